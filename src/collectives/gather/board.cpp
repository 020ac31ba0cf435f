// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its block in a cell and is done; the root copies the cells as they come.
// Latency: nobody but the root waits. Cost: alpha + (P - 1) beta n at the root.
//
//     P = 4, root 1:    0 #, 2 #, 3 #   >   1
#include "collectives/board.hpp"

namespace tutti::collectives::gather {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  if (shape.size > 1 && shape.count > 0) b.use(board::Ring::small, 1);
  if (shape.rank != shape.root) {
    board::Line line;
    if (shape.count > 0) board::put(b, line, 0, my_input(shape));
    return b.build();
  }
  place_own_block(b, shape);
  for (Rank distance = 1; distance < shape.size && shape.count > 0; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    board::Line line;
    board::take(b, line, Writer::shared(from, 0, 0, shape.count), output_block(shape, from));
  }
  return b.build();
}

}  // namespace tutti::collectives::gather
