// SPDX-License-Identifier: BSD-3-Clause
// Board: the root publishes its data in a cell and is done; everybody else reads that cell.
// Latency: nobody waits for anybody but the root. Cost: alpha + beta n.
//
//     P = 4, root 1:    1 #  >  0, 2, 3
#include "collectives/board.hpp"

namespace tutti::collectives::bcast {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  board::Line line;
  if (shape.rank == shape.root) {
    board::put(b, line, 0, whole(shape));
  } else {
    board::take(b, line, Writer::shared(shape.root, 0, 0, shape.count), whole(shape));
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
