// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody copies its block piece by piece into its large cells, from where the root collects them
// meanwhile. Where single copy is forbidden. Cost: alpha S + (P - 1) beta n at the root, S pieces.
//
//     0, 2, 3   #0 #1 #2 ...
//     root 1       0  1  2 ...
#include "collectives/board.hpp"

namespace tutti::collectives::gather {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  if (shape.rank == shape.root) b.copy(contribution(shape, home), home);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    if (shape.rank != shape.root) board::put(b, order.of(cell), cell, board::part_of(my_input(shape), cell, cells));
    for (Rank distance = 1; distance < shape.size && shape.rank == shape.root; ++distance) {
      const Rank from = board::neighbour(shape, distance);
      const Slice piece = board::part_of(output_block(shape, from), cell, cells);
      board::take(b, order.of(cell), Writer::shared(from, cell, 0, piece.count), piece);
    }
    order.finish(cell);
  }
  return b.build();
}

}  // namespace tutti::collectives::gather
