// SPDX-License-Identifier: BSD-3-Clause
// Reduce: everybody's `count` elements, combined one by one in the order of the ranks, lie in the root's output.
// In place: the root's own elements lie in its output.
#include "collectives/specification.hpp"

namespace tutti::collectives::reduce {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    const bool at_root = rank == problem.root;
    contribute(promise, rank, problem.count, problem.in_place && at_root, 0);
    if (!at_root || problem.count == 0) continue;
    promise.output = problem.count;
    promise.after.push_back({plan::Buffer::output, 0, problem.count, combined(problem.size)});
  }
  return contract;
}

}  // namespace tutti::collectives::reduce
