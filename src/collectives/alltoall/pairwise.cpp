// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: like linear, but one send and one receive at a time: in round s everybody sends to the rank s ahead.
// Bandwidth: for large blocks and many ranks, where everything at once would clog the network. The edges from round to
// round keep this pace and nothing else. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521. Cost: (P - 1)
// (alpha + beta n).
//
//     P = 4    round 1  0>1 1>2 2>3 3>0
//              round 2  0>2 1>3 2>0 3>1
//              round 3  0>3 1>0 2>1 3>2
#include "collectives/alltoall/exchange.hpp"

namespace tutti::collectives::alltoall {

plan::Plan pairwise(const Shape& shape) {
  Writer b(shape);
  const Outgoing out = outgoing(b, shape);
  Handle sent, received;
  for (Rank step = 1; step < shape.size; ++step) {
    const Rank to = around(shape.rank + step, shape.size), from = around(shape.rank - step, shape.size);
    const auto t = static_cast<std::size_t>(to), f = static_cast<std::size_t>(from);
    const Handle send = b.send(to, out.block[t]).after({sent, out.ready[t]});
    const Handle recv = b.recv(from, output_block(shape, from)).after({received, out.ready[f]});
    if (send.exists()) sent = send;
    if (recv.exists()) received = recv;
  }
  return b.build();
}

}  // namespace tutti::collectives::alltoall
