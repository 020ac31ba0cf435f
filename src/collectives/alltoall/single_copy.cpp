// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its blocks, copies its own from everybody's straight to their places, and says so.
// In place exposes a copy in scratch. Bandwidth: each byte is moved once. Cost: 2 alpha + (P - 1) beta n.
//
//     P = 3     0 copies from 1, 2     1 copies from 2, 0     2 copies from 0, 1
#include "collectives/board.hpp"

namespace tutti::collectives::alltoall {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  move_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 2);
  Slice blocks = all_input(shape);
  Handle saved;
  if (shape.in_place) {
    blocks = b.scratch(blocks.count);
    saved = b.copy(all_output(shape), blocks);
  }
  b.publish(0, blocks).after(saved);
  std::vector<Handle> copied;
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    board::Line line(saved);
    line.add(b.await(from, 0, blocks.count));
    const Slice theirs = Writer::exposed(from, 0, shape.rank * shape.count, shape.count);
    copied.push_back(line.add(b.copy(theirs, output_block(shape, from))));
  }
  b.publish(1, board::nothing(shape.rank, 1)).after(copied);
  b.await(board::everyone, 1, 0);
  return b.build();
}

}  // namespace tutti::collectives::alltoall
