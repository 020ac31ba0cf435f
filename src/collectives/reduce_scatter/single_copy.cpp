// SPDX-License-Identifier: BSD-3-Clause
// Single copy: reduce_scatter_block's, whose blocks have counts of their own here.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan single_copy(const Shape& shape) { return reduce_scatter_block::single_copy(shape); }

}  // namespace tutti::collectives::reduce_scatter
