// SPDX-License-Identifier: BSD-3-Clause
// Gather: everybody's elements lie in the root's output, one block a rank. In place: the root's own block lies there
// before. Elements between blocks stay as they are.
#include "collectives/specification.hpp"

namespace tutti::collectives::gather {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  const Layout blocks = blocks_of_all(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    const bool at_root = rank == problem.root;
    contribute(promise, rank, blocks.count(rank), problem.in_place && at_root, blocks.offset(rank));
    if (!at_root) continue;
    promise.output = blocks.extent;
    for (Rank from = 0; from < problem.size; ++from)
      hold(promise.after, plan::Buffer::output, blocks.offset(from), blocks.count(from), {from, 0});
  }
  return contract;
}

}  // namespace tutti::collectives::gather
