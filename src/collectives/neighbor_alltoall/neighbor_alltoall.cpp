// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_alltoall: block d of rank i's input becomes block s of the output of the rank at the other end of its edge
// d, where s is that edge's slot there. Blocks of edges that lead nowhere stay as they are.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_alltoall {

plan::Contract contract(const Problem& problem) { return along_edges(problem); }

}  // namespace tutti::collectives::neighbor_alltoall
