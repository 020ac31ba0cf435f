// SPDX-License-Identifier: BSD-3-Clause
// Circulant: reduce_scatter_block's, whose blocks have counts of their own here.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan circulant(const Shape& shape) { return reduce_scatter_block::circulant(shape); }

}  // namespace tutti::collectives::reduce_scatter
