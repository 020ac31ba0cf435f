// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_alltoallv: neighbor_alltoall with a count and an offset for each edge; each rank knows its own.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_alltoallv {

plan::Contract contract(const Problem& problem) { return along_edges(problem); }

}  // namespace tutti::collectives::neighbor_alltoallv
