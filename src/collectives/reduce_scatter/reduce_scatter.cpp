// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter: reduce_scatter_block with a count for each rank's block; all ranks know all counts, and blocks lie
// side by side.
#include "collectives/specification.hpp"

namespace tutti::collectives::reduce_scatter {

plan::Contract contract(const Problem& problem) { return reduce_scatter_block::contract(problem); }

}  // namespace tutti::collectives::reduce_scatter
