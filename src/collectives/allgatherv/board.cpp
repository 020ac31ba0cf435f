// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its block in a cell if it fits, else exposes it; everybody copies all of them. Whoever
// exposed its block waits until all have copied it. Cost: alpha + beta (sum of n), one alpha more for large blocks.
//
//     P = 3     0 #block     1 exposes     2 nothing     >  all copy  >  0, 2 publish  >  1 done
#include "collectives/board.hpp"

namespace tutti::collectives::allgatherv {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const Slice mine = contribution(shape, home);
  b.copy(mine, home);
  if (shape.size == 1) return b.build();
  b.use(board::block_ring(shape), 2);
  board::Line publishing;
  if (mine.count > 0) board::offer(b, publishing, shape, 0, mine);
  std::vector<Handle> exposed;
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    const Slice theirs = output_block(shape, from);
    if (theirs.count == 0) continue;
    board::Line line;
    const Handle copied = board::take(b, line, board::offered(shape, from, 0, theirs), theirs);
    if (!board::fits(shape, theirs)) exposed.push_back(copied);
  }
  if (!exposed.empty()) b.publish(1, board::nothing(shape.rank, 1)).after(exposed);
  if (!board::fits(shape, mine)) b.await(board::everyone, 1, 0);
  return b.build();
}

}  // namespace tutti::collectives::allgatherv
