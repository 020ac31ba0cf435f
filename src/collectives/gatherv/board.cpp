// SPDX-License-Identifier: BSD-3-Clause
// Board: whoever's block fits a small cell publishes it there and is done; the others expose theirs, and wait until the
// root has copied it. Sender and root know the block's size, so that they take the same branch; no exchange before.
// Cost: alpha + beta (sum of n) at the root, one alpha more for large blocks.
//
//     P = 4, root 0:    1 #block   2 expose   3 nothing   >  0 copies  >  2 done
#include "collectives/board.hpp"

namespace tutti::collectives::gatherv {
namespace {

void hand_in(Writer& b, const Shape& shape, const board::Receipts& receipts) {
  const Slice mine = my_input(shape);
  if (mine.count == 0) return;
  board::Line line;
  board::offer(b, line, shape, 0, mine);
  if (!board::fits(shape, mine)) b.await(shape.root, receipts.cell(shape.rank), 0);
}

}  // namespace

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  board::Receipts receipts(shape);
  if (shape.size > 1) b.use(board::block_ring(shape), receipts.cells());
  if (shape.rank != shape.root) {
    hand_in(b, shape, receipts);
    return b.build();
  }
  const Slice home = output_block(shape, shape.rank);
  b.copy(contribution(shape, home), home);
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    const Slice theirs = output_block(shape, from);
    if (theirs.count == 0) continue;
    board::Line line;
    const Handle copied = board::take(b, line, board::offered(shape, from, 0, theirs), theirs);
    if (!board::fits(shape, theirs)) receipts.add(from, copied);
  }
  receipts.publish(b);
  return b.build();
}

}  // namespace tutti::collectives::gatherv
