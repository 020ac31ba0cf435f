// SPDX-License-Identifier: BSD-3-Clause
// Linear: neighbor_allgather's, whose blocks have counts and offsets of their own here; empty blocks are no messages.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgatherv {

plan::Plan linear(const Shape& shape) { return edges::linear(shape, edges::Gives::one); }

}  // namespace tutti::collectives::neighbor_allgatherv
