// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody copies its block piece by piece into its large cells, from where the root collects them
// meanwhile. Where single copy is forbidden. Cost: alpha S + (P - 1) beta n at the root, S pieces.
//
//     0, 2, 3   #0 #1 #2 ...
//     root 1       0  1  2 ...
#include "collectives/board.hpp"

namespace tutti::collectives {

void board::gather(Writer& b, const Shape& shape, Order& order, const Pieces& pieces) {
  const auto piece = [&](Slice block, std::int32_t number) {
    return part_of(block.part(pieces.skip, pieces.count), number, pieces.number);
  };
  for (std::int32_t number = 0; number < pieces.number; ++number) {
    const std::int32_t cell = pieces.first + number;
    if (shape.rank != shape.root) put(b, order.of(cell), cell, piece(my_input(shape), number));
    for (Rank distance = 1; distance < shape.size && shape.rank == shape.root; ++distance) {
      const Rank from = neighbour(shape, distance);
      const Slice theirs = piece(output_block(shape, from), number);
      take(b, order.of(cell), Writer::shared(from, cell, 0, theirs.count), theirs);
    }
    order.finish(cell);
  }
}

namespace gather {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.rank == shape.root) place_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  board::gather(b, shape, order, {.first = 0, .number = cells, .skip = 0, .count = shape.count});
  return b.build();
}

}  // namespace gather
}  // namespace tutti::collectives
