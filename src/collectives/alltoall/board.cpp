// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its blocks, nearest rank first and as many to a cell as fit, and reads its own from
// everybody's cells, half a ring behind where they are many. In place goes through scratch.
// Latency: one step of the memory. Cost: alpha + (P - 1) beta n.
//
//     P = 4, two blocks a cell:   0  #(1 2) #(3)     1  #(2 3) #(0)     2  #(3 0) #(1)     3  #(0 1) #(2)
#include "collectives/board.hpp"

namespace tutti::collectives {
namespace {

/// My blocks in the cell: from the nearest rank that writes for me there to the farthest.
void take_blocks(Writer& b, const Shape& shape, const board::Stream& stream, board::Order& order, std::int32_t cell) {
  for (Rank distance = stream.nearest(cell); distance <= stream.farthest(cell); ++distance) {
    const Rank from = board::neighbour(shape, -distance);
    board::Line& line = order.of(cell);
    line.add(b.await(from, cell, stream.size(cell)));
    line.add(stream.read(b, from, distance, cell, output_block(shape, from)));
  }
}

}  // namespace

plan::Plan board::alltoall(const Shape& shape, Ring ring) {
  Writer b(shape);
  move_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  Slice blocks = all_input(shape);
  Handle saved;
  if (shape.in_place) {
    blocks = b.scratch(blocks.count);
    saved = b.copy(all_output(shape), blocks);
  }
  const Stream stream(shape, ring);
  const std::int32_t cells = stream.cells();
  b.use(ring, cells);
  Order order(b, ring, cells, saved);
  order.run(
      0, cells, [&](std::int32_t cell) { stream.write(b, order.of(cell), cell, blocks); },
      [&](std::int32_t cell) { take_blocks(b, shape, stream, order, cell); });
  return b.build();
}

namespace alltoall {

plan::Plan board(const Shape& shape) { return board::alltoall(shape, board::Ring::small); }

}  // namespace alltoall
}  // namespace tutti::collectives
