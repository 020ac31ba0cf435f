// SPDX-License-Identifier: BSD-3-Clause
// Ring: allgather's, whose blocks have counts and offsets of their own here.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgatherv {

plan::Plan ring(const Shape& shape) { return allgather::ring(shape); }

}  // namespace tutti::collectives::allgatherv
