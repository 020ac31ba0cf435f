// SPDX-License-Identifier: BSD-3-Clause
// Board: alltoallv's, of the bytes that each pair of layouts packs to.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoallw {

plan::Plan board(const Shape& shape) { return alltoallv::board(shape); }

}  // namespace tutti::collectives::alltoallw
