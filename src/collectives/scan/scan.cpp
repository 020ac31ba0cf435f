// SPDX-License-Identifier: BSD-3-Clause
// Scan: rank r's output holds the `count` elements of ranks 0 ... r, combined one by one in the order of the ranks.
// In place: the own elements lie in the output.
#include "collectives/specification.hpp"

namespace tutti::collectives::scan {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    contribute(promise, rank, problem.count, problem.in_place, 0);
    promise.output = problem.count;
    const Rank combines = problem.kind == Kind::scan ? rank + 1 : rank;
    if (problem.count > 0 && combines > 0)
      promise.after.push_back({plan::Buffer::output, 0, problem.count, combined(combines)});
  }
  return contract;
}

}  // namespace tutti::collectives::scan
