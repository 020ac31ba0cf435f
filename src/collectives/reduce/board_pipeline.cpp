// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody copies its data piece by piece into its large cells; the root combines each piece of all
// ranks in their order while the next are on their way.
// Medium sizes where single copy is forbidden. Cost: alpha S + (P - 1)(beta + gamma) n at the root, S pieces.
//
//     0, 2, 3   #0 #1 #2 ...
//     root 1       0  1  2 ...        each: 0 op (1 op 2 op 3)
#include <utility>

#include "collectives/board.hpp"

namespace tutti::collectives::reduce {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1) b.copy(operand(shape, whole(shape)), whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    const Slice piece = board::part_of(whole(shape), cell, cells);
    board::Line& line = order.of(cell);
    if (shape.rank != shape.root) {
      board::put(b, line, cell, operand(shape, piece));
    } else {
      Handle placed = b.copy(operand(shape, piece), piece);  // the first waits for it, and the others for the first
      board::around(shape, [&](Rank rank, Side side) {
        line.add(b.await(rank, cell, piece.count));
        line.add(b.reduce(Writer::shared(rank, cell, 0, piece.count), piece, side))
            .after(std::exchange(placed, Handle()));
      });
    }
    order.finish(cell);
  }
  return b.build();
}

}  // namespace tutti::collectives::reduce
