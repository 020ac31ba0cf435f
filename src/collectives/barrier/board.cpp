// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes an empty cell and waits for everybody's.
// Latency: one step of the memory. Cost: alpha + P reads of a cache line.
//
//     P = 3    0   1   2
//     publish  #   #   #
//     await   12  02  01
#include "collectives/board.hpp"

namespace tutti::collectives::barrier {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1) return b.build();
  b.use(board::Ring::small, 1);
  b.publish(0, board::nothing(shape.rank, 0));
  b.await(board::everyone, 0, 0);
  return b.build();
}

}  // namespace tutti::collectives::barrier
