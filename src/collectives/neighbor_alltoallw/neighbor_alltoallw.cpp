// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_alltoallw: neighbor_alltoallv of bytes. Which types they are and where they lie is between each rank and its
// memory.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_alltoallw {

plan::Contract contract(const Problem& problem) { return along_edges(problem); }

}  // namespace tutti::collectives::neighbor_alltoallw
