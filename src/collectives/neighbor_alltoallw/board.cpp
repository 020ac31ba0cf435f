// SPDX-License-Identifier: BSD-3-Clause
// Board: neighbor_alltoallv's, of the bytes that the layout of each edge packs to.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::neighbor_alltoallw {

plan::Plan board(const Shape& shape) { return neighbor_alltoallv::board(shape); }

}  // namespace tutti::collectives::neighbor_alltoallw
