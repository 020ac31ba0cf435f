// SPDX-License-Identifier: BSD-3-Clause
// Combined: neighbor_alltoall's, whose blocks have counts and offsets of their own here: both ends know those of each
// edge, and so that of the message.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoallv {

plan::Plan combined(const Shape& shape) { return edges::combined(shape, edges::Gives::each); }

}  // namespace tutti::collectives::neighbor_alltoallv
