// SPDX-License-Identifier: BSD-3-Clause
// Linear: alltoallv's, of the bytes that each pair of layouts packs to.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoallw {

plan::Plan linear(const Shape& shape) { return alltoallv::linear(shape); }

}  // namespace tutti::collectives::alltoallw
