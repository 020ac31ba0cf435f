// SPDX-License-Identifier: BSD-3-Clause
// Neighbor_reduce: rank i's output is what its sources give, combined in the order of its edges; a source counts once
// for each of its edges. Edges that lead nowhere give nothing; the output of a rank without sources stays as it is.
// Proposed in Hoefler, Träff, "Sparse collective operations for MPI", HIPS 2009, doi 10.1109/IPDPS.2009.5160935.
#include "collectives/specification.hpp"

namespace tutti::collectives::neighbor_reduce {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    contribute(promise, rank, problem.count, false, 0);
    promise.output = problem.count;
    plan::Value sum;
    for (const Edge& edge : problem.neighbors.at(static_cast<std::size_t>(rank)).sources)
      if (edge.exists()) sum.push_back({edge.rank, 0});
    if (problem.count > 0 && !sum.empty()) promise.after.push_back({plan::Buffer::output, 0, problem.count, sum});
  }
  return contract;
}

}  // namespace tutti::collectives::neighbor_reduce
