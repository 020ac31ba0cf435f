// SPDX-License-Identifier: BSD-3-Clause
// Board, large cells: everybody copies its data piece by piece into its large cells and combines everybody's pieces in
// the order of the ranks, half a ring behind. One step of the memory where the pipeline takes two, but every rank
// combines everything: for few ranks. Cost: alpha S + beta n + (P - 1)(beta + gamma) n, S pieces.
//
//     write     0  1  2  3  4  5 ...
//     combine               0  1 ...    then release
#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {

plan::Plan board_large(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape)), sum = whole(shape);
  if (shape.size == 1) b.copy(mine, sum);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  std::vector<Handle> written;
  const auto write = [&](std::int32_t cell) {
    written.push_back(board::put(b, order.of(cell), cell, board::part_of(mine, cell, cells)));
  };
  const auto combine = [&](std::int32_t cell) {
    const Slice piece = board::part_of(sum, cell, cells);
    const Slice own = board::part_of(mine, cell, cells);
    board::Line& line = order.of(cell);
    // In place, the cell keeps my data when the output is written over.
    const Handle saved = shape.in_place ? written[static_cast<std::size_t>(cell)] : Handle();
    if (shape.size == 2) {
      board::combine_pair(b, line, shape, cell, piece, shape.in_place ? saved : b.copy(own, piece));
    } else {
      line.add(b.await(board::everyone, cell, piece.count)).after(saved);
      const bool placed = shape.in_place && shape.rank == shape.size - 1;
      board::fold(b, line, shape, piece, placed, [&](Rank rank) {
        return rank == shape.rank && !shape.in_place ? own : Writer::shared(rank, cell, 0, piece.count);
      });
    }
  };
  order.run(0, cells, write, combine);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
