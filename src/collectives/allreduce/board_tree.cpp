// SPDX-License-Identifier: BSD-3-Clause
// Board tree: cells climb a flat tree, each rank combining its children's with its own, in the order of the ranks; the
// result comes back in one cell of rank 0, which everybody reads.
// For many ranks, where each reading the cells of all others is too much.
// Cost: (log_k P + 1) alpha + (k log_k P + 1) beta n + k log_k P gamma n.
//
//     P = 8, radix 3:   1, 2, (4, 5 >) 3, (7 >) 6  >  0  >  everybody
#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {

plan::Plan board_tree(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 2);
  const std::int32_t cell = shape.rank == 0 ? 1 : 0;
  const Slice sum = Writer::shared(shape.rank, cell, 0, shape.count);
  board::Line line;
  const Handle saved = line.add(b.copy(mine, sum));
  for (const Rank child : board::children(shape.rank, shape.size, board::radix(shape))) {
    line.add(b.await(child, 0, shape.count));
    line.add(b.reduce(Writer::shared(child, 0, 0, shape.count), sum, Side::right));
  }
  const Handle summed = line.last();
  b.publish(cell, sum).after(summed);
  const Handle ready = shape.rank == 0 ? summed : b.await(0, 1, shape.count);
  b.copy(Writer::shared(0, 1, 0, shape.count), whole(shape)).after({ready, shape.in_place ? saved : Handle()});
  return b.build();
}

}  // namespace tutti::collectives::allreduce
