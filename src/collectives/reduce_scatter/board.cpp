// SPDX-License-Identifier: BSD-3-Clause
// Board: reduce_scatter_block's, whose blocks have counts of their own here.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan board(const Shape& shape) { return reduce_scatter_block::board(shape); }

}  // namespace tutti::collectives::reduce_scatter
