// SPDX-License-Identifier: BSD-3-Clause
// Bruck: a block for the rank d ahead travels by the bits of d: in round k all blocks whose d has bit k go 2^k ahead,
// in one message. Radix k: by digits to base k, to k - 1 ranks a round (k - 1 ports). Latency: for short blocks, any P;
// but each block is forwarded up to log2 P times. Bruck, Ho, Kipnis, Upfal, Weathersby 1997, doi 10.1109/71.642949.
// Cost: ceil(log2 P) (alpha + beta P/2 n).
//
//     P = 5, what each rank sends      to         blocks by distance d
//     round 0                          rank + 1   1 3
//     round 1                          rank + 2   2 3
//     round 2                          rank + 4   4
#include "collectives/alltoall/exchange.hpp"

namespace tutti::collectives::alltoall {

plan::Plan bruck(const Shape& shape) {
  Writer b(shape);
  const Outgoing out = outgoing(b, shape);
  const auto ahead = [&](Rank distance) { return static_cast<std::size_t>(around(shape.rank + distance, shape.size)); };
  std::vector<Slice> at;  // where the block that travels `distance` is now
  std::vector<Handle> ready;
  for (Rank distance = 0; distance < shape.size; ++distance) {
    at.push_back(out.block[ahead(distance)]);
    ready.push_back(out.ready[ahead(distance)]);
  }
  const Count radix = std::max(shape.parameters.radix, 2);
  for (Count weight = 1; weight < shape.size; weight *= radix)
    for (Count hop = weight; hop < std::min<Count>(weight * radix, shape.size); hop += weight) {
      std::vector<std::size_t> moved;
      for (Count distance = hop; distance < shape.size; ++distance)
        if (distance / weight % radix == hop / weight) moved.push_back(static_cast<std::size_t>(distance));
      const auto count = static_cast<Count>(moved.size()) * shape.count;
      const Slice leaving = b.scratch(count), arriving = b.scratch(count);
      std::vector<Handle> packed;
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const auto first = static_cast<Count>(i) * shape.count;
        packed.push_back(b.copy(at[moved[i]], leaving.part(first, shape.count)).after(ready[moved[i]]));
        at[moved[i]] = arriving.part(first, shape.count);
      }
      const auto step = static_cast<Rank>(hop);
      b.send(around(shape.rank + step, shape.size), leaving).after(packed);
      const Handle received = b.recv(around(shape.rank - step, shape.size), arriving);
      for (const std::size_t distance : moved) ready[distance] = received;
    }
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = around(shape.rank - distance, shape.size);
    const auto d = static_cast<std::size_t>(distance);
    b.copy(at[d], output_block(shape, from)).after({ready[d], out.ready[static_cast<std::size_t>(from)]});
  }
  return b.build();
}

}  // namespace tutti::collectives::alltoall
