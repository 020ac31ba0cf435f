// SPDX-License-Identifier: BSD-3-Clause
// Linear: neighbor_alltoall's, whose blocks have counts and offsets of their own here; empty blocks are no messages.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoallv {

plan::Plan linear(const Shape& shape) { return edges::linear(shape, edges::Gives::each); }

}  // namespace tutti::collectives::neighbor_alltoallv
