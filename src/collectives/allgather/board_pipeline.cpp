// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody copies its block piece by piece into its large cells, and collects everybody's pieces half
// a ring behind. Where single copy is forbidden. Cost: alpha S + P beta n, S pieces.
//
//     write   0  1  2  3  4  5 ...
//     read                0  1 ...    then release
#include "collectives/board.hpp"

namespace tutti::collectives::allgather {
namespace {

void collect(Writer& b, const Shape& shape, board::Line& line, std::int32_t cell, std::int32_t cells) {
  const auto piece = [&](Rank rank) { return board::part_of(output_block(shape, rank), cell, cells); };
  const bool alike = shape.recv_counts.empty();
  if (alike) line.add(b.await(board::everyone, cell, piece(0).count));
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    if (piece(from).count == 0) continue;
    const Slice theirs = Writer::shared(from, cell, 0, piece(from).count);
    alike ? line.add(b.copy(theirs, piece(from))) : board::take(b, line, theirs, piece(from));
  }
}

}  // namespace

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const Slice mine = contribution(shape, home);
  if (shape.size == 1 || largest_block(shape) == 0) {
    b.copy(mine, home);
    return b.build();
  }
  const std::int32_t cells = board::pieces(shape, board::Ring::large, largest_block(shape));
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  const auto write = [&](std::int32_t cell) {
    const Slice piece = board::part_of(mine, cell, cells);
    if (piece.count > 0) board::put(b, order.of(cell), cell, piece);
  };
  order.run(0, cells, write, [&](std::int32_t cell) {
    if (cell == 0) b.copy(mine, home);  // others have something to read by then
    collect(b, shape, order.of(cell), cell, cells);
  });
  return b.build();
}

}  // namespace tutti::collectives::allgather
