// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: a chain through large cells: each piece in the cell of the rank before is the result; everybody
// combines it with its own in a cell of its own, and publishes that, while the pieces before are on their way.
// Medium sizes, and large ones where single copy is forbidden. Cost: (P - 1 + S) alpha + 2 beta n + gamma n, S pieces.
//
//     0   #0 #1 #2 ...
//     1      #0 #1 #2 ...
//     2         0  1  2 ...
#include "collectives/board.hpp"

namespace tutti::collectives::exscan {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    const Slice piece = board::part_of(whole(shape), cell, cells);
    const Slice sum = Writer::shared(shape.rank, cell, 0, piece.count);
    const bool publishes = shape.rank + 1 < shape.size;
    board::Line& line = order.of(cell);
    if (publishes) line.add(b.copy(operand(shape, piece), sum));
    if (shape.rank > 0) {
      const Slice before = Writer::shared(shape.rank - 1, cell, 0, piece.count);
      board::take(b, line, before, piece);
      if (publishes) line.add(b.reduce(before, sum, Side::left));
    }
    if (publishes) line.add(b.publish(cell, sum));
    order.finish(cell);
  }
  return b.build();
}

}  // namespace tutti::collectives::exscan
