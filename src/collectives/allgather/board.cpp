// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its block in a cell, waits for everybody's, and copies them all.
// Latency: one step of the memory. Cost: alpha + (P - 1) beta n.
//
//     P = 3    0     1     2
//     publish  #     #     #
//     read     1 2   2 0   0 1
#include "collectives/board.hpp"

namespace tutti::collectives::allgather {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const Slice mine = contribution(shape, home);
  if (shape.size > 1 && shape.count > 0) {
    b.use(board::Ring::small, 1);
    board::Line publishing, reading;
    board::put(b, publishing, 0, mine);
    reading.add(b.await(board::everyone, 0, shape.count));
    for (Rank distance = 1; distance < shape.size; ++distance) {
      const Rank from = board::neighbour(shape, distance);
      reading.add(b.copy(Writer::shared(from, 0, 0, shape.count), output_block(shape, from)));
    }
  }
  b.copy(mine, home);
  return b.build();
}

}  // namespace tutti::collectives::allgather
