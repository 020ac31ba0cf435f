// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its data in a cell and is done; the root combines the cells in the order of the ranks.
// Latency: nobody but the root waits. Cost: alpha + (P - 1)(beta + gamma) n at the root.
//
//     P = 4, root 1:    0 #, 2 #, 3 #   >   1:  0 op (1 op 2 op 3)
#include "collectives/board.hpp"

namespace tutti::collectives::reduce {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  board::Line line;
  if (shape.rank != shape.root) {
    board::put(b, line, 0, mine);
    return b.build();
  }
  line.add(b.copy(mine, whole(shape)));
  board::around(shape, [&](Rank rank, Side side) {
    line.add(b.await(rank, 0, shape.count));
    line.add(b.reduce(Writer::shared(rank, 0, 0, shape.count), whole(shape), side));
  });
  return b.build();
}

}  // namespace tutti::collectives::reduce
