// SPDX-License-Identifier: BSD-3-Clause
// Hosts: reduce_scatter_block's, whose blocks have counts of their own here: everybody reads the blocks of its host.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Plan hosts(const Shape& shape) { return reduce_scatter_block::hosts(shape); }

}  // namespace tutti::collectives::reduce_scatter
