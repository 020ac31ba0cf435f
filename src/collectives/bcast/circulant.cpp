// SPDX-License-Identifier: BSD-3-Clause
// Circulant: segment by segment over the edges of a circulant graph, on which everybody sends one and receives one in
// every round. Latency and bandwidth, for any P: no algorithm needs fewer rounds, if each rank sends to one at a time.
// Träff 2024, arXiv 2407.18004. Cost with segments of m: (ceil(log2 P) - 1 + n/m) (alpha + beta m).
//
//     P = 5, root 0, segments a b c    round 0   0 -a-> 2
//                                      round 1   0 -b-> 3
//                                      round 2   0 -c-> 1   2 -a-> 3   3 -b-> 4
//                                      round 3   0 -c-> 2   2 -a-> 4   4 -b-> 1
//                                      round 4   0 -c-> 3   1 -c-> 4   3 -a-> 1   4 -b-> 2
#include "collectives/circulant.hpp"
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan circulant(const Shape& shape) {
  Writer b(shape);
  const auto rank = [&](Rank at) { return rank_at(at, shape.root, shape.size); };
  const Rank here = position(shape.rank, shape.root, shape.size);
  const std::vector<Slice> blocks = segments(whole(shape), segment_of(shape));
  std::vector<Handle> have(blocks.size());
  for (const Round& round : collectives::circulant(here, shape.size, static_cast<Count>(blocks.size()))) {
    const auto sent = static_cast<std::size_t>(round.sent), received = static_cast<std::size_t>(round.received);
    if (round.sent >= 0) b.send(rank(round.ahead), blocks[sent]).after(have[sent]);
    if (round.received >= 0) have[received] = b.recv(rank(round.behind), blocks[received]);
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
