// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: reduce_scatter_block's, whose blocks have counts of their own here: each round has a part of each.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan board_pipeline(const Shape& shape) { return reduce_scatter_block::board_pipeline(shape); }

}  // namespace tutti::collectives::reduce_scatter
