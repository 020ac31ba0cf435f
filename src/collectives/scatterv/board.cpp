// SPDX-License-Identifier: BSD-3-Clause
// Board: the root publishes one cell for each other rank: the block itself if it fits, else the exposed block, whose
// copying it then waits for. Root and receiver know the block's size, so that they take the same branch; no exchange of
// offsets before. Two ranks know all counts that matter: a large block goes in pieces where a segment was asked for.
// Cost: alpha + (P - 1) alpha' + beta n, one alpha more for large blocks.
//
//     P = 4, root 0:    0  #block1 #expose2 (nothing for 3)    >  1, 2 copy  >  2 publishes  >  0 done
#include "collectives/board.hpp"

namespace tutti::collectives::scatterv {
namespace {

/// Receipts go into the receivers' last cells, which are never released before completion.
std::int32_t receipt(const Shape& shape) { return shape.size - 2; }

void hand_out(Writer& b, const Shape& shape) {
  board::Order order(b, board::block_ring(shape), shape.size - 1);
  for (std::int32_t cell = 0; cell < shape.size - 1; ++cell) {
    const Rank to = board::neighbour(shape, cell + 1);
    const Slice theirs = input_block(shape, to);
    if (theirs.count > 0) board::offer(b, order.of(cell), shape, cell, theirs);
    if (cell == 0) keep_own_block(b, shape);  // while the first ones copy theirs
    if (!board::fits(shape, theirs)) b.await(to, receipt(shape), 0);
    order.finish(cell);
  }
}

void take_one(Writer& b, const Shape& shape) {
  const Slice mine = my_output(shape);
  if (mine.count == 0) return;
  const std::int32_t cell = position(shape.rank, shape.root, shape.size) - 1;
  const std::int32_t ring = board::ring_length[board::block_ring(shape)];
  // With more cells than the ring has, the root reaches my cell when I have released those before it, and the receivers
  // reach their receipts' when all have released what was in its place.
  const bool large = !board::fits(shape, mine);
  const std::int32_t in_the_way = large ? receipt(shape) - ring : -1;
  const bool early = cell >= ring || (in_the_way >= 0 && cell > in_the_way);
  const Handle others = early ? b.release(cell - 1) : Handle();
  board::Line line;
  board::take(b, line, board::offered(shape, shape.root, cell, mine), mine);
  if (!large) return;
  if (cell <= in_the_way) line.add(b.release(in_the_way)).after(others);
  line.add(b.publish(receipt(shape), board::nothing(shape.rank, receipt(shape))));
}

}  // namespace

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1) {
    keep_own_block(b, shape);
    return b.build();
  }
  const bool root = shape.rank == shape.root;
  if (shape.size == 2) {
    const Slice block = root ? input_block(shape, 1 - shape.rank) : my_output(shape);
    if (board::in_pieces(shape, block.count)) {
      root ? board::swap(b, shape, block, {}) : board::swap(b, shape, {}, block);
      if (root) keep_own_block(b, shape);
      return b.build();
    }
  }
  b.use(board::block_ring(shape), shape.size - 1);
  if (root)
    hand_out(b, shape);
  else
    take_one(b, shape);
  return b.build();
}

}  // namespace tutti::collectives::scatterv
