// SPDX-License-Identifier: BSD-3-Clause
// Single copy, shared: small blocks go through cells as in `board`, larger ones piece by piece through seven more,
// after a cell that exposes them only to show how long they are. For each still larger one the root opens the place,
// into which its owner writes it but for a share that the root fetches meanwhile: all ranks move the same, where in
// `board` the root moves everything. A cell of the root's for each rank, which large cells are enough for; of more
// ranks than that it is `board`. Cost: alpha + 2 beta (sum of n) at the root, of the largest 2 alpha + beta (sum of n)
// / P for blocks of one size.
//
//     P = 3, root 0:    1 #block    0 opens, 2 exposes  >  2 writes 2/3, 0 copies 1/3  >  both say so
#include "collectives/gatherv/small.hpp"

namespace tutti::collectives::gatherv {
namespace {

constexpr std::int32_t cells = board::ring_length[ring];

/// Through how many further cells a block goes that does not fit one; 0: it is too large for them.
std::int32_t pieces(const Shape& shape, Slice block) {
  const Count cell = board::capacity(shape, ring), needed = (block.count + cell - 1) / cell;
  return needed < cells ? static_cast<std::int32_t>(needed) : 0;
}

void take_in(Writer& b, const Shape& shape, Rank distance) {
  const Rank from = board::neighbour(shape, distance);
  const Slice home = output_block(shape, from);
  if (home.count == 0) return;
  board::Line line;
  if (fits(shape, home)) {
    board::take(b, line, Writer::shared(from, 0, 0, home.count), home);
  } else if (const std::int32_t number = pieces(shape, home); number > 0) {
    line.add(b.await(from, 0, home.count));
    for (std::int32_t i = 0; i < number; ++i) {
      const Slice piece = board::part_of(home, i, number);
      board::take(b, line, Writer::shared(from, i + 1, 0, piece.count), piece);
    }
  } else {
    b.open(distance - 1, home);
    board::fetch_share(b, shape, from, home);
  }
}

void pass_on(Writer& b, const Shape& shape) {
  const Slice mine = my_input(shape);
  if (hand_in_small(b, shape, mine)) return;
  if (const std::int32_t number = pieces(shape, mine); number > 0) {
    board::Line line;
    line.add(b.publish(0, mine));
    for (std::int32_t i = 0; i < number; ++i) board::put(b, line, i + 1, board::part_of(mine, i, number));
    return;
  }
  const Rank distance = board::neighbour(shape, -shape.root);
  board::hand_over(b, shape, mine, Writer::exposed(shape.root, distance - 1, 0, mine.count), 0);
}

}  // namespace

plan::Plan single_copy_shared(const Shape& shape) {
  if (shape.size > cells + 1) return board(shape);
  Writer b(shape);
  if (shape.size > 1) b.use(ring, cells);
  if (shape.rank != shape.root) {
    pass_on(b, shape);
    return b.build();
  }
  place_own_block(b, shape);
  for (Rank distance = 1; distance < shape.size; ++distance) take_in(b, shape, distance);
  return b.build();
}

}  // namespace tutti::collectives::gatherv
