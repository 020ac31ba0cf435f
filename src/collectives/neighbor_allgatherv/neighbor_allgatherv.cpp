// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_allgatherv: neighbor_allgather with a count and an offset for each source; a rank knows its own and those of
// its sources.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_allgatherv {

plan::Contract contract(const Problem& problem) { return along_edges(problem); }

}  // namespace tutti::collectives::neighbor_allgatherv
