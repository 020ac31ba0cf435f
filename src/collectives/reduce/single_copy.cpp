// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its data; the root combines it from there in the order of the ranks, and says so.
// Few ranks: the root does all the work, without any copy. Cost: 2 alpha + (P - 1)(beta + gamma) n at the root.
//
//     P = 3, root 0:    1, 2 expose  >  0 op 1 op 2  >  0 publish  >  1, 2 done
#include "collectives/board.hpp"

namespace tutti::collectives::reduce {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  board::Receipts receipts(shape);
  b.use(board::Ring::small, receipts.cells());
  if (shape.rank != shape.root) {
    b.publish(0, mine);
    b.await(shape.root, receipts.cell(shape.rank), 0);
    return b.build();
  }
  board::Line line;
  line.add(b.copy(mine, whole(shape)));
  board::around(shape, [&](Rank rank, Side side) {
    line.add(b.await(rank, 0, shape.count));
    receipts.add(rank, line.add(b.reduce(Writer::exposed(rank, 0, 0, shape.count), whole(shape), side)));
  });
  receipts.publish(b);
  return b.build();
}

}  // namespace tutti::collectives::reduce
