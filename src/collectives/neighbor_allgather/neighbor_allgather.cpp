// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_allgather: rank i's input becomes block s of the output of each of its destinations, where s is the slot of
// their edge there. Blocks of edges that lead nowhere stay as they are.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_allgather {

plan::Contract contract(const Problem& problem) { return along_edges(problem); }

}  // namespace tutti::collectives::neighbor_allgather
