// SPDX-License-Identifier: BSD-3-Clause
// Circulant: bcast's, backwards. A rank sends its sum of a segment where bcast would receive the segment, when all
// those have come in that bcast would send it to. They come in any order, so the operation must commute. Latency and
// bandwidth, for any P. Träff 2024, arXiv 2407.18004.
// Cost with segments of m: (ceil(log2 P) - 1 + n/m) (alpha + beta m + gamma m).
//
//     P = 5, root 0, segments a b c    round 0   3 -c-> 0   4 -c-> 1   1 -a-> 3   2 -b-> 4
//                                      round 1   2 -c-> 0   4 -a-> 2   1 -b-> 4
//                                      round 2   1 -c-> 0   3 -a-> 2   4 -b-> 3
//                                      round 3   3 -b-> 0
//                                      round 4   2 -a-> 0
#include "collectives/circulant.hpp"

#include <ranges>
#include <utility>

#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce {

plan::Plan circulant(const Shape& shape) {
  Writer b(shape);
  const auto rank = [&](Rank at) { return rank_at(at, shape.root, shape.size); };
  const Rank here = position(shape.rank, shape.root, shape.size);
  std::vector<Slice> sums;
  std::vector<Handle> ready;
  for (const Slice& result : segments(whole(shape), segment_of(shape))) {
    const Slice mine = operand(shape, result);
    sums.push_back(here == 0 ? result : mine);
    ready.push_back(here == 0 ? b.copy(mine, result) : Handle());
  }
  const auto add = [&](Rank from, std::size_t block) {
    if (here != 0 && !ready[block].exists()) {
      const Slice sum = b.scratch(sums[block].count);
      ready[block] = b.copy(std::exchange(sums[block], sum), sum);
    }
    ready[block] = b.recv_reduce(from, sums[block], Side::left).after(ready[block]);
  };
  const std::vector<Round> rounds = collectives::circulant(here, shape.size, static_cast<Count>(sums.size()));
  for (const Round& round : rounds | std::views::reverse) {
    const auto received = static_cast<std::size_t>(round.received);
    if (round.sent >= 0) add(rank(round.ahead), static_cast<std::size_t>(round.sent));
    if (round.received >= 0) b.send(rank(round.behind), sums[received]).after(ready[received]);
  }
  return b.build();
}

}  // namespace tutti::collectives::reduce
