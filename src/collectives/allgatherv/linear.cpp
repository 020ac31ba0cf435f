// SPDX-License-Identifier: BSD-3-Clause
// Linear: everybody sends its block to everybody, starting with its right neighbour. Latency where messages to many
// go out together, and good for blocks of very different size: none waits for another.
// Cost: (P - 1) alpha + beta (sum of the others' n).
//
//     P = 4    0>1 1>2 2>3 3>0   0>2 1>3 2>0 3>1   0>3 1>0 2>1 3>2     all at once
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgatherv {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank), mine = contribution(shape, home);
  b.copy(mine, home);
  for (Rank step = 1; step < shape.size; ++step) {
    const Rank from = around(shape.rank - step, shape.size);
    b.send(around(shape.rank + step, shape.size), mine);
    b.recv(from, output_block(shape, from));
  }
  return b.build();
}

}  // namespace tutti::collectives::allgatherv
