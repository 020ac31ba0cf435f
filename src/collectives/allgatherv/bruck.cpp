// SPDX-License-Identifier: BSD-3-Clause
// Bruck: everybody collects the blocks of its own and the following ranks, packed in scratch: those of twice as many
// with each round (radix k: k times as many, from k - 1 ranks); they go to their places at the end. Latency, for any P.
// Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi 10.1109/71.642949. Cost: ceil(log2 P) alpha + beta (sum of n).
//
//     P = 5      0      1      2      3      4
//     start      0      1      2      3      4
//     round 0    01     12     23     34     40
//     round 1    0123   1234   2340   3401   4012
//     round 2    all
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgatherv {
namespace {

/// Where the blocks of this and the following ranks lie when they are packed: the last entry is their end.
std::vector<Count> packed_offsets(const Shape& shape) {
  std::vector<Count> offsets{0};
  for (Rank distance = 0; distance < shape.size; ++distance)
    offsets.push_back(offsets.back() + output_block(shape, around(shape.rank + distance, shape.size)).count);
  return offsets;
}

}  // namespace

plan::Plan bruck(const Shape& shape) {
  Writer b(shape);
  const std::vector<Count> offset = packed_offsets(shape);
  const Slice packed = b.scratch(offset.back());
  const auto part = [&](Rank first, Rank last) {
    const Count begin = offset[static_cast<std::size_t>(first)];
    return packed.part(begin, offset[static_cast<std::size_t>(last)] - begin);
  };
  const Slice home = output_block(shape, shape.rank), mine = contribution(shape, home);
  b.copy(mine, home);
  std::vector<Handle> have{b.copy(mine, part(0, 1))};
  const Count radix = std::max(shape.parameters.radix, 2);
  for (Count held = 1; held < shape.size; held *= radix)
    for (Count ahead = held; ahead < std::min<Count>(held * radix, shape.size); ahead += held) {
      const auto first = static_cast<Rank>(ahead), count = static_cast<Rank>(std::min(held, shape.size - ahead));
      b.send(around(shape.rank - first, shape.size), part(0, count)).after({have.begin(), have.begin() + count});
      const Handle received = b.recv(around(shape.rank + first, shape.size), part(first, first + count));
      have.insert(have.end(), static_cast<std::size_t>(count), received);
      for (Rank distance = first; distance < first + count; ++distance)
        b.copy(part(distance, distance + 1), output_block(shape, around(shape.rank + distance, shape.size)))
            .after(received);
    }
  return b.build();
}

}  // namespace tutti::collectives::allgatherv
