// SPDX-License-Identifier: BSD-3-Clause
// Scatter: block r of the root's input reaches rank r's output. In place: the root's own block stays in its input, and
// the root has no output.
#include "collectives/specification.hpp"

namespace tutti::collectives::scatter {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  const Layout blocks = blocks_of_all(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    const bool at_root = rank == problem.root;
    if (at_root) {
      promise.input = blocks.extent;
      for (Rank to = 0; to < problem.size; ++to)
        hold(promise.before, plan::Buffer::input, blocks.offset(to), blocks.count(to), {rank, blocks.offset(to)});
    }
    if (at_root && problem.in_place) continue;
    promise.output = blocks.count(rank);
    hold(promise.after, plan::Buffer::output, 0, blocks.count(rank), {problem.root, blocks.offset(rank)});
  }
  return contract;
}

}  // namespace tutti::collectives::scatter
