// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its data in a cell, waits for everybody's, and combines them all in the order of the
// ranks: the same bits everywhere. Latency: one step of the memory. Cost: alpha + (P - 1)(beta + gamma) n.
//
//     P = 3    0       1       2
//     publish  #       #       #
//     await    1 2     0 2     0 1
//     output   0 op (1 op 2), everywhere
#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  board::Line publishing;
  const Handle written = board::put(b, publishing, 0, mine);
  // In place, the cell keeps my data when the output is written over.
  const Slice kept = shape.in_place ? Writer::shared(shape.rank, 0, 0, shape.count) : mine;
  const Handle saved = shape.in_place ? written : Handle();
  if (shape.size == 2) {
    board::Line line;
    board::combine_pair(b, line, shape, 0, whole(shape), shape.in_place ? saved : b.copy(mine, whole(shape)));
    return b.build();
  }
  board::Line line(saved);
  line.add(b.await(board::everyone, 0, shape.count));
  const bool placed = shape.in_place && shape.rank == shape.size - 1;
  board::fold(b, line, shape, whole(shape), placed,
              [&](Rank rank) { return rank == shape.rank ? kept : Writer::shared(rank, 0, 0, shape.count); });
  return b.build();
}

}  // namespace tutti::collectives::allreduce
