// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its block, copies all others straight to their places, and says so.
// Bandwidth: each byte is moved once to each rank. Cost: 2 alpha + P beta n.
//
//     P = 3     0 copies 1, 2     1 copies 2, 0     2 copies 0, 1
#include "collectives/board.hpp"

namespace tutti::collectives::allgather {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const Slice mine = contribution(shape, home);
  if (shape.size > 1 && shape.count > 0) {
    b.use(board::Ring::small, 2);
    b.publish(0, mine);
    std::vector<Handle> copied;
    for (Rank distance = 1; distance < shape.size; ++distance) {
      const Rank from = board::neighbour(shape, distance);
      board::Line line;
      copied.push_back(board::take(b, line, Writer::exposed(from, 0, 0, shape.count), output_block(shape, from)));
    }
    b.publish(1, board::nothing(shape.rank, 1)).after(copied);
    b.await(board::everyone, 1, 0);
  }
  b.copy(mine, home);
  return b.build();
}

}  // namespace tutti::collectives::allgather
