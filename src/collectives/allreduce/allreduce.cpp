// SPDX-License-Identifier: BSD-3-Clause
// Allreduce: everybody's `count` elements, combined one by one in the order of the ranks, lie in everybody's output.
// In place: the own elements lie in the output.
#include "collectives/specification.hpp"

namespace tutti::collectives::allreduce {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    contribute(promise, rank, problem.count, problem.in_place, 0);
    promise.output = problem.count;
    if (problem.count > 0) promise.after.push_back({plan::Buffer::output, 0, problem.count, combined(problem.size)});
  }
  return contract;
}

}  // namespace tutti::collectives::allreduce
