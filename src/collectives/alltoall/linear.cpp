// SPDX-License-Identifier: BSD-3-Clause
// Linear, spread out: everybody sends its blocks all at once, starting with its right neighbour, so that not all begin
// with the same receiver. Bandwidth: nothing is forwarded. Cost: (P - 1) (alpha + beta n).
//
//     P = 4    0>1 1>2 2>3 3>0   0>2 1>3 2>0 3>1   0>3 1>0 2>1 3>2     all at once
#include "collectives/alltoall/exchange.hpp"

namespace tutti::collectives::alltoall {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  const Outgoing out = outgoing(b, shape);
  for (Rank step = 1; step < shape.size; ++step) {
    const Rank to = around(shape.rank + step, shape.size), from = around(shape.rank - step, shape.size);
    b.send(to, out.block[static_cast<std::size_t>(to)]).after(out.ready[static_cast<std::size_t>(to)]);
    b.recv(from, output_block(shape, from)).after(out.ready[static_cast<std::size_t>(from)]);
  }
  return b.build();
}

}  // namespace tutti::collectives::alltoall
