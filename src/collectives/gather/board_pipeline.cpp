// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody copies its block piece by piece into its large cells, from where the root collects them
// meanwhile. The root's own block is placed between the pieces, so that nobody waits for that: while the root is at it,
// the others fill their cells. Where single copy is forbidden. Cost: alpha S + P beta n at the root, S pieces.
//
//     0, 2, 3   #0 #1 #2 ...
//     root 1    1  0  1  0 ...
#include "collectives/board.hpp"

namespace tutti::collectives {

void board::gather(Writer& b, const Shape& shape, Order& order, const Pieces& pieces) {
  const auto piece = [&](Slice block, std::int32_t number) {
    return part_of(block.part(pieces.skip, pieces.count), number, pieces.number);
  };
  const bool root = shape.rank == shape.root;
  // Of a block larger than the others' the rest waits until nobody does.
  const Slice home = root ? output_block(shape, shape.rank) : Slice(), all = contribution(shape, home);
  const Count between = std::min(home.count, pieces.count);
  for (std::int32_t number = 0; number < pieces.number; ++number) {
    const std::int32_t cell = pieces.first + number;
    const auto mine = [&](Slice block) { return part_of(block.part(0, between), number, pieces.number); };
    if (root)
      order.of(cell).add(b.copy(mine(all), mine(home)));
    else
      put(b, order.of(cell), cell, piece(my_input(shape), number));
    for (Rank distance = 1; distance < shape.size && root; ++distance) {
      const Rank from = neighbour(shape, distance);
      const Slice theirs = piece(output_block(shape, from), number);
      take(b, order.of(cell), Writer::shared(from, cell, 0, theirs.count), theirs);
    }
    order.finish(cell);
  }
  if (root) b.copy(all.part(between, all.count - between), home.part(between, home.count - between));
}

namespace gather {

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  if (shape.count == 0) return b.build();
  if (shape.size == 1) {
    place_own_block(b, shape);
    return b.build();
  }
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  board::gather(b, shape, order, {.first = 0, .number = cells, .skip = 0, .count = shape.count});
  return b.build();
}

}  // namespace gather
}  // namespace tutti::collectives
