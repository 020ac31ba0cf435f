// SPDX-License-Identifier: BSD-3-Clause
// Alltoall: block j of rank i's input becomes block i of rank j's output. In place: block j of rank i's output before
// becomes block i of rank j's output. Elements between blocks stay as they are.
#include "collectives/specification.hpp"

namespace tutti::collectives::alltoall {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  std::vector<Layout> sent;
  for (Rank rank = 0; rank < problem.size; ++rank) sent.push_back(sent_by(problem, rank));
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    const Layout received = received_by(problem, rank);
    const Layout& mine = sent[static_cast<std::size_t>(rank)];
    const plan::Buffer source = problem.in_place ? plan::Buffer::output : plan::Buffer::input;
    promise.input = problem.in_place ? 0 : mine.extent;
    promise.output = received.extent;
    for (Rank other = 0; other < problem.size; ++other) {
      const Layout& theirs = sent[static_cast<std::size_t>(other)];
      hold(promise.before, source, mine.offset(other), mine.count(other), {rank, mine.offset(other)});
      hold(promise.after, plan::Buffer::output, received.offset(other), received.count(other),
           {other, theirs.offset(rank)});
    }
  }
  return contract;
}

}  // namespace tutti::collectives::alltoall
