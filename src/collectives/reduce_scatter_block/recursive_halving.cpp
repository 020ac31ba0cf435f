// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: pairs at halving distance share the work: each sends the blocks of the other's half of the ranks
// and combines those of its own. P must be a power of two. Far ranks combine first, so the operation must commute.
// Bandwidth, in few rounds. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521.
// Cost: log2 P alpha + (P - 1)(beta + gamma) n, n elements a block.
//
//     P = 4    0=2 1=3       01 to 0 and 1, 23 to 2 and 3
//              0=1 2=3       to each its own
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan recursive_halving(const Shape& shape) {
  Writer b(shape);
  Operands operands(shape);
  Rank first = 0;               // of those whose blocks are combined here
  Slice held = operands.all();  // what their blocks have come to
  Handle ready;
  for (Rank half = shape.size / 2; half > 0; half /= 2) {
    const Rank other = shape.rank ^ half, middle = first + half;
    const bool upper = shape.rank >= middle;
    const Count below = operands.blocks(first, middle).count;
    const Slice lower_half = held.part(0, below), upper_half = held.part(below, held.count - below);
    const Slice given = upper ? lower_half : upper_half, mine = upper ? upper_half : lower_half;
    const Handle sent = b.send(other, given).after(ready);
    if (upper) first = middle;
    if (2 * half < shape.size) {
      held = mine;
      ready = b.recv_reduce(other, held, Side::left).after(ready);
      continue;
    }
    operands.read(given, sent);
    held = b.scratch(mine.count);
    const Handle received = b.recv(other, held);
    ready = b.reduce(mine, held, Side::left).after(received);
    operands.read(mine, ready);
  }
  operands.finish(b, held, {ready});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
