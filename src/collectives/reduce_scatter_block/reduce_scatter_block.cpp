// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter_block: everybody's blocks, one for each rank, are combined one by one in the order of the ranks; block
// r of the result lies in rank r's output. In place: the blocks lie in the output, and the result at its beginning; the
// rest of it stays as it is.
#include "collectives/specification.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  const Layout blocks = blocks_of_all(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    contribute(promise, rank, blocks.extent, problem.in_place, 0);
    const Count count = blocks.count(rank);
    promise.output = problem.in_place ? blocks.extent : count;
    if (count > 0)
      promise.after.push_back({plan::Buffer::output, 0, count, combined(problem.size, blocks.offset(rank))});
  }
  return contract;
}

}  // namespace tutti::collectives::reduce_scatter_block
