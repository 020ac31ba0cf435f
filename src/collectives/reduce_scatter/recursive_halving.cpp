// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: reduce_scatter_block's, whose blocks have counts of their own here: halves are halves of the
// ranks, not of the elements.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan recursive_halving(const Shape& shape) { return reduce_scatter_block::recursive_halving(shape); }

}  // namespace tutti::collectives::reduce_scatter
