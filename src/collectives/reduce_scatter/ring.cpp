// SPDX-License-Identifier: BSD-3-Clause
// Ring: reduce_scatter_block's, whose blocks have counts of their own here; empty blocks are no messages.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan ring(const Shape& shape) { return reduce_scatter_block::ring(shape); }

}  // namespace tutti::collectives::reduce_scatter
