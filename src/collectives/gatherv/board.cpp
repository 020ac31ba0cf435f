// SPDX-License-Identifier: BSD-3-Clause
// Board: whoever's block fits a cell publishes it there and is done; the others expose theirs, and wait until the root
// says that it has copied it. Sender and root know the block's size, so that they take the same branch; no exchange
// before. One cell for each call lets the senders be far ahead of the root.
// Cost: alpha + beta (sum of n) at the root, one alpha more for large blocks. Two ranks know all counts that matter,
// and so how many cells a pipeline takes: a very large block goes that way, but for its beginning; where a segment was
// asked for, as a whole.
//
//     P = 4, root 0:    1 #block   2 expose   3 nothing   >  0 copies  >  2 done
#include "collectives/board.hpp"
#include "collectives/gatherv/small.hpp"

namespace tutti::collectives::gatherv {
namespace {

void hand_in(Writer& b, const Shape& shape) {
  const Slice mine = my_input(shape);
  if (hand_in_small(b, shape, mine)) return;
  b.publish(0, mine);
  // Of two ranks the root has the cell for it; of more, each has to hear it as soon as its own block is read.
  if (shape.size == 2)
    b.await(shape.root, 0, 0);
  else
    b.hear(shape.root);
}

void collect(Writer& b, const Shape& shape, Rank from) {
  const Slice theirs = output_block(shape, from);
  if (theirs.count == 0) return;
  const bool small = fits(shape, theirs);
  board::Line line;
  const Handle copied = board::take(
      b, line, small ? Writer::shared(from, 0, 0, theirs.count) : Writer::exposed(from, 0, 0, theirs.count), theirs);
  if (small) return;
  if (shape.size == 2)
    b.publish(0, board::nothing(shape.rank, 0)).after(copied);
  else
    b.tell(from).after(copied);
}

/// Through cells the sender's core does half of the copying, which pays from 1 MiB on, and not with more ranks: their
/// copies in turn take the cores from the root.
bool goes_in_pieces(const Shape& shape, Slice block) {
  constexpr Count pays = 16;
  return shape.size == 2 && block.count > pays * board::capacity(shape, board::Ring::large);
}

/// The sender exposes its block, so that the root sees that they mean the same count, and writes pieces of it into
/// cells; meanwhile the root copies as much of its beginning as the ring holds, and then its own between the pieces.
plan::Plan in_pieces(const Shape& shape, Slice block) {
  const Count straight = board::ring_length[ring] * board::capacity(shape, ring);
  const std::int32_t pieces = board::pieces(shape, ring, block.count - straight);
  // Cell 0, then one for each piece. The receipt goes into the root's last, which is not released before completion.
  const Rank other = 1 - shape.rank;
  Writer b(shape);
  b.use(ring, pieces + 1);
  board::Order order(b, ring, pieces + 1);
  Handle copied;
  if (shape.rank == shape.root) {
    order.of(0).add(b.await(other, 0, block.count));
    copied = order.of(0).add(b.copy(Writer::exposed(other, 0, 0, straight), block.part(0, straight)));
  } else {
    order.of(0).add(b.publish(0, block));
  }
  board::gather(b, shape, order, {.first = 1, .number = pieces, .skip = straight, .count = block.count - straight});
  if (shape.rank == shape.root) {
    b.publish(pieces, board::nothing(shape.rank, pieces)).after(copied);
  } else {
    b.await(other, pieces, 0);
  }
  return b.build();
}

}  // namespace

plan::Plan board(const Shape& shape) {
  if (shape.size == 2) {
    const bool root = shape.rank == shape.root;
    const Slice block = root ? output_block(shape, 1 - shape.rank) : my_input(shape);
    if (board::in_pieces(shape, block.count)) {
      Writer b(shape);
      root ? board::swap(b, shape, {}, block) : board::swap(b, shape, block, {});
      if (root) place_own_block(b, shape);
      return b.build();
    }
    if (goes_in_pieces(shape, block)) return in_pieces(shape, block);
  }
  Writer b(shape);
  if (shape.size > 1) b.use(ring, 1);
  if (shape.rank != shape.root) {
    hand_in(b, shape);
    return b.build();
  }
  place_own_block(b, shape);
  for (Rank distance = 1; distance < shape.size; ++distance) collect(b, shape, board::neighbour(shape, distance));
  return b.build();
}

}  // namespace tutti::collectives::gatherv
