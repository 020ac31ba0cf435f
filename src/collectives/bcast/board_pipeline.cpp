// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: the root copies its data piece by piece into its large cells, which everybody else reads meanwhile.
// Bandwidth where single copy is forbidden; two copies, overlapped. Cost: alpha S + beta (n + n / S), S pieces.
//
//     root     #0 #1 #2 #3 ...        a cell is taken again when all others have released it
//     others      0  1  2  3 ...
#include "collectives/board.hpp"

namespace tutti::collectives::bcast {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    const Slice piece = board::part_of(whole(shape), cell, cells);
    board::Line& line = order.of(cell);
    if (shape.rank == shape.root)
      board::put(b, line, cell, piece);
    else
      board::take(b, line, Writer::shared(shape.root, cell, 0, piece.count), piece);
    order.finish(cell);
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
