// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: alltoall's, whose blocks have counts and offsets of their own here; empty blocks are no messages.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoallv {

plan::Plan pairwise(const Shape& shape) { return alltoall::pairwise(shape); }

}  // namespace tutti::collectives::alltoallv
