// SPDX-License-Identifier: BSD-3-Clause
// Combined: neighbor_alltoallv's, of the bytes that the layout of each edge packs to.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::neighbor_alltoallw {

plan::Plan combined(const Shape& shape) { return neighbor_alltoallv::combined(shape); }

}  // namespace tutti::collectives::neighbor_alltoallw
