// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its data in a cell and combines those of the ranks before it, nearest first.
// Latency: nobody waits for a higher rank. Cost: alpha + (P - 1)(beta + gamma) n at the last rank.
//
//     P = 4    0 #   1 #   2 #   3         >   -   0   0 op 1   0 op (1 op 2)
#include "collectives/board.hpp"

namespace tutti::collectives::exscan {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  const Slice sum = whole(shape);
  board::Line publishing;
  Handle written;
  if (shape.rank + 1 < shape.size) written = board::put(b, publishing, 0, operand(shape, sum));
  board::Line line(shape.in_place ? written : Handle());
  for (Rank rank = shape.rank - 1; rank >= 0; --rank) {
    const Slice theirs = Writer::shared(rank, 0, 0, shape.count);
    line.add(b.await(rank, 0, shape.count));
    line.add(rank + 1 == shape.rank ? b.copy(theirs, sum) : b.reduce(theirs, sum, Side::left));
  }
  return b.build();
}

}  // namespace tutti::collectives::exscan
