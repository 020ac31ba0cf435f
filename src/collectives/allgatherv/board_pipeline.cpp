// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: allgather's. Blocks have counts of their own here, and are cut into equally many pieces.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgatherv {

plan::Plan board_pipeline(const Shape& shape) { return allgather::board_pipeline(shape); }

}  // namespace tutti::collectives::allgatherv
