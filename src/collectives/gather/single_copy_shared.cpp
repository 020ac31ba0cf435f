// SPDX-License-Identifier: BSD-3-Clause
// Single copy, shared: the root opens its output, into which everybody writes its block but for a share, and the root
// fetches those shares meanwhile: all ranks move the same. Bandwidth: each byte is moved once, by P cores instead of
// the root's alone. Cost: 2 alpha + (P - 1) / P beta n.
//
//     P = 3, root 0:    0 opens, 1, 2 expose  >  1, 2 write 2/3, 0 copies 1/3 of both  >  all say so
#include "collectives/board.hpp"

namespace tutti::collectives {

namespace {

/// Elements of a block that its owner writes; the root fetches the others.
Count written(const Shape& shape, Slice block) { return block.count - block.count / shape.size; }

constexpr std::int32_t block_cell = 0, done_cell = 1;

}  // namespace

void board::hand_over(Writer& b, const Shape& shape, Slice block, Slice opened, Count place) {
  const Count mine = written(shape, block);
  const bool shared = mine < block.count;
  if (shared) b.publish(block_cell, block);
  Line line;
  line.add(b.await(shape.root, opened.cell, opened.count));
  line.add(b.copy(block.part(0, mine), opened.part(place, mine)));
  line.add(b.publish(done_cell, nothing(shape.rank, done_cell)));
  if (shared) b.hear(shape.root);
}

void board::fetch_share(Writer& b, const Shape& shape, Rank from, Slice home) {
  const Count theirs = written(shape, home), mine = home.count - theirs;
  if (mine > 0) {
    Line line;
    const Slice block = Writer::exposed(from, block_cell, 0, home.count);
    line.add(b.await(from, block_cell, home.count));
    const Handle fetched = line.add(b.copy(block.part(theirs, mine), home.part(theirs, mine)));
    b.tell(from).after(fetched);
  }
  b.await(from, done_cell, 0);
}

namespace gather {

plan::Plan single_copy_shared(const Shape& shape) {
  Writer b(shape);
  const bool root = shape.rank == shape.root;
  if (root) place_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 2);
  // The root's cells: the blocks before its own, and those behind it.
  const Slice before = Writer::output(0, shape.root * shape.count);
  const Slice behind = Writer::output((shape.root + 1) * shape.count, (shape.size - 1 - shape.root) * shape.count);
  if (root) {
    if (before.count > 0) b.open(0, before);
    if (behind.count > 0) b.open(1, behind);
    for (Rank distance = 1; distance < shape.size; ++distance) {
      const Rank from = board::neighbour(shape, distance);
      board::fetch_share(b, shape, from, output_block(shape, from));
    }
    return b.build();
  }
  const bool first = shape.rank < shape.root;
  const Slice& opened = first ? before : behind;
  const Count place = (first ? shape.rank : shape.rank - shape.root - 1) * shape.count;
  board::hand_over(b, shape, my_input(shape), Writer::exposed(shape.root, first ? 0 : 1, 0, opened.count), place);
  return b.build();
}

}  // namespace gather
}  // namespace tutti::collectives
