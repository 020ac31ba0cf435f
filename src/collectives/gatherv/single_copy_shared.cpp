// SPDX-License-Identifier: BSD-3-Clause
// Single copy, shared: blocks of up to eight cells go through cells, piece by piece. For each larger one the root opens
// the place, into which its owner writes it but for a share that the root fetches meanwhile: all ranks move the same,
// where in `board` the root moves everything. A cell of the root's for each rank, which large cells are enough for; of
// more ranks than that it is `board`. Cost: alpha + 2 beta (sum of n) at the root, of large ones 2 alpha + beta (sum
// of n) / P for blocks of one size.
//
//     P = 3, root 0:    1 #block    0 opens, 2 exposes  >  2 writes 2/3, 0 copies 1/3  >  both say so
#include "collectives/gatherv/small.hpp"

namespace tutti::collectives::gatherv {
namespace {

constexpr std::int32_t cells = board::ring_length(ring);

/// Through how many cells a block goes; 0: it is too large for them.
std::int32_t pieces(const Shape& shape, Slice block) {
  if (fits(shape, block)) return 1;
  const Count cell = board::capacity(shape, ring), needed = (block.count + cell - 1) / cell;
  return needed <= cells ? static_cast<std::int32_t>(needed) : 0;
}

void take_in(Writer& b, const Shape& shape, Rank distance) {
  const Rank from = board::neighbour(shape, distance);
  const Slice home = output_block(shape, from);
  if (home.count == 0) return;
  const std::int32_t number = pieces(shape, home);
  board::Line line;
  for (std::int32_t cell = 0; cell < number; ++cell) {
    const Slice piece = board::part_of(home, cell, number);
    board::take(b, line, Writer::shared(from, cell, 0, piece.count), piece);
  }
  if (number > 0) return;
  b.open(distance - 1, home);
  board::fetch_share(b, shape, from, home);
}

void pass_on(Writer& b, const Shape& shape) {
  const Slice mine = my_input(shape);
  if (mine.count == 0) return;
  const std::int32_t number = pieces(shape, mine);
  board::Line line;
  for (std::int32_t cell = 0; cell < number; ++cell) board::put(b, line, cell, board::part_of(mine, cell, number));
  if (number > 0) return;
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
