// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: a chain through large cells: everybody combines each piece in the cell of the rank before it with its
// own, and publishes it, while the pieces before are on their way.
// Medium sizes, and large ones where single copy is forbidden. Cost: (P - 1 + S) alpha + 3 beta n + gamma n, S pieces.
//
//     0   #0 #1 #2 ...
//     1      #0 #1 #2 ...
//     2         0  1  2 ...
#include "collectives/board.hpp"

namespace tutti::collectives::scan {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1) b.copy(operand(shape, whole(shape)), whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    const Slice piece = board::part_of(whole(shape), cell, cells), mine = operand(shape, piece);
    board::Line& line = order.of(cell);
    if (shape.rank > 0) {
      const Handle placed = b.copy(mine, piece);
      line.add(b.await(shape.rank - 1, cell, piece.count));
      line.add(b.reduce(Writer::shared(shape.rank - 1, cell, 0, piece.count), piece, Side::left)).after(placed);
    }
    if (shape.rank + 1 < shape.size) board::put(b, line, cell, shape.rank > 0 ? piece : mine);
    order.finish(cell);
  }
  if (shape.rank == 0) b.copy(operand(shape, whole(shape)), whole(shape));  // others have something to read by then
  return b.build();
}

}  // namespace tutti::collectives::scan
