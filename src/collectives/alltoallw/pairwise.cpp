// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: alltoallv's, of the bytes that each pair of layouts packs to.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoallw {

plan::Plan pairwise(const Shape& shape) { return alltoallv::pairwise(shape); }

}  // namespace tutti::collectives::alltoallw
