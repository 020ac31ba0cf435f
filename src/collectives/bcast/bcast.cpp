// SPDX-License-Identifier: BSD-3-Clause
// Bcast: the root's `count` elements reach everybody's output.
#include "collectives/specification.hpp"

namespace tutti::collectives::bcast {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    promise.output = problem.count;
    if (rank == problem.root) hold(promise.before, plan::Buffer::output, 0, problem.count, {rank, 0});
    hold(promise.after, plan::Buffer::output, 0, problem.count, {problem.root, 0});
  }
  return contract;
}

}  // namespace tutti::collectives::bcast
