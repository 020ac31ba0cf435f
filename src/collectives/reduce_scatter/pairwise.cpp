// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: reduce_scatter_block's, whose blocks have counts of their own here; empty blocks are no messages.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan pairwise(const Shape& shape) { return reduce_scatter_block::pairwise(shape); }

}  // namespace tutti::collectives::reduce_scatter
