// SPDX-License-Identifier: BSD-3-Clause
// Allgather: everybody's elements lie in everybody's output, one block a rank. In place: the own block lies there
// before. Elements between blocks stay as they are.
#include "collectives/specification.hpp"

namespace tutti::collectives::allgather {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  const Layout blocks = blocks_of_all(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    contribute(promise, rank, blocks.count(rank), problem.in_place, blocks.offset(rank));
    promise.output = blocks.extent;
    for (Rank from = 0; from < problem.size; ++from)
      hold(promise.after, plan::Buffer::output, blocks.offset(from), blocks.count(from), {from, 0});
  }
  return contract;
}

}  // namespace tutti::collectives::allgather
