// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its data in a cell and combines those of the ranks before it, nearest first.
// Latency: nobody waits for a higher rank. Cost: alpha + (P - 1)(beta + gamma) n at the last rank.
//
//     P = 4    0 #   1 #   2 #   3         >   0   0 op 1   0 op (1 op 2)   0 op (1 op (2 op 3))
#include "collectives/board.hpp"

namespace tutti::collectives::scan {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Slice sum = whole(shape), mine = operand(shape, sum);
  const Handle placed = b.copy(mine, sum);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  board::Line publishing;
  Handle written;
  if (shape.rank + 1 < shape.size) written = board::put(b, publishing, 0, mine);
  board::Line line(shape.in_place ? written : placed);
  for (Rank rank = shape.rank - 1; rank >= 0; --rank) {
    line.add(b.await(rank, 0, shape.count));
    line.add(b.reduce(Writer::shared(rank, 0, 0, shape.count), sum, Side::left));
  }
  return b.build();
}

}  // namespace tutti::collectives::scan
