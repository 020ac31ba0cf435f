// SPDX-License-Identifier: BSD-3-Clause
// Tree: reduce_scatter_block's, whose blocks have counts of their own here.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan tree(const Shape& shape) { return reduce_scatter_block::tree(shape); }

}  // namespace tutti::collectives::reduce_scatter
