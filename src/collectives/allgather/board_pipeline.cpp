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
  line.add(b.await(board::everyone, cell, board::part_of(output_block(shape, 0), cell, cells).count));
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    const Slice piece = board::part_of(output_block(shape, from), cell, cells);
    line.add(b.copy(Writer::shared(from, cell, 0, piece.count), piece));
  }
}

}  // namespace

plan::Plan board_pipeline(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const Slice mine = contribution(shape, home);
  b.copy(mine, home);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const std::int32_t cells = board::pieces(shape, board::Ring::large, shape.count);
  const std::int32_t ahead = board::ahead(board::Ring::large);
  b.use(board::Ring::large, cells);
  board::Order order(b, board::Ring::large, cells);
  for (std::int32_t cell = -ahead; cell < cells; ++cell) {
    if (cell + ahead < cells)
      board::put(b, order.of(cell + ahead), cell + ahead, board::part_of(mine, cell + ahead, cells));
    if (cell < 0) continue;
    collect(b, shape, order.of(cell), cell, cells);
    order.finish(cell);
  }
  return b.build();
}

}  // namespace tutti::collectives::allgather
