// SPDX-License-Identifier: BSD-3-Clause
// Combined: neighbor_allgather's, whose blocks have counts and offsets of their own here.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgatherv {

plan::Plan combined(const Shape& shape) { return edges::combined(shape, edges::Gives::one); }

}  // namespace tutti::collectives::neighbor_allgatherv
