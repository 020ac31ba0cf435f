// SPDX-License-Identifier: BSD-3-Clause
// Bruck: everybody collects the blocks of its own and the following ranks: those of twice as many with each round.
// Latency, for any P. Blocks go straight to their places; those around the end of the group are a message of their
// own, in place of Bruck's last rotation. Radix k: from k - 1 ranks a round, k times as many (k - 1 ports). Bruck, Ho,
// Kipnis, Upfal, Weathersby 1997, doi 10.1109/71.642949. Cost: ceil(log2 P) alpha (twice that where blocks go around
// the end) + (P - 1) beta n.
//
//     P = 5      0      1      2      3      4
//     start      0      1      2      3      4
//     round 0    01     12     23     34     40
//     round 1    0123   1234   2340   3401   4012
//     round 2    all
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgather {

plan::Plan bruck(const Shape& shape) {
  Writer b(shape);
  const Slice output = all_output(shape), home = output_block(shape, shape.rank);
  std::vector<Handle> have(static_cast<std::size_t>(shape.size));  // by distance from here
  have[0] = b.copy(contribution(shape, home), home);
  const Count radix = std::max(shape.parameters.radix, 2);
  for (Count held = 1; held < shape.size; held *= radix)
    for (Count ahead = held; ahead < std::min<Count>(held * radix, shape.size); ahead += held) {
      const auto distance = static_cast<Rank>(ahead), count = static_cast<Rank>(std::min(held, shape.size - ahead));
      const Rank to = around(shape.rank - distance, shape.size), from = around(shape.rank + distance, shape.size);
      const Spread mine = spread(output, {shape.rank, 0, count}, shape.size);
      const Spread theirs = spread(output, {from, 0, count}, shape.size);
      const auto before_end = have.begin() + std::min(count, shape.size - shape.rank);
      b.send(to, mine.ahead).after({have.begin(), before_end});
      b.send(to, mine.around).after({before_end, have.begin() + count});
      const Handle first = b.recv(from, theirs.ahead), beyond = b.recv(from, theirs.around);
      for (Rank i = 0; i < count; ++i)
        have[static_cast<std::size_t>(distance) + static_cast<std::size_t>(i)] = from + i < shape.size ? first : beyond;
    }
  return b.build();
}

}  // namespace tutti::collectives::allgather
