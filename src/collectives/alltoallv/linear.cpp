// SPDX-License-Identifier: BSD-3-Clause
// Linear: alltoall's, whose blocks have counts and offsets of their own here; empty blocks are no messages.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoallv {

plan::Plan linear(const Shape& shape) { return alltoall::linear(shape); }

}  // namespace tutti::collectives::alltoallv
