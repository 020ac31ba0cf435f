// SPDX-License-Identifier: BSD-3-Clause
// Single copy, shared: small blocks go through cells as in `board`. For each large one the root opens the place, into
// which its owner writes it but for a share that the root fetches meanwhile: all ranks move the same, where in `board`
// the root moves everything. A cell of the root's for each rank, which large cells are enough for; of more ranks than
// that it is `board`. Cost: 2 alpha + beta (sum of n) / P, for blocks of one size.
//
//     P = 3, root 0:    1 #block    0 opens, 2 exposes  >  2 writes 2/3, 0 copies 1/3  >  both say so
#include "collectives/gatherv/small.hpp"

namespace tutti::collectives::gatherv {
namespace {

void take_in(Writer& b, const Shape& shape, Rank distance) {
  const Rank from = board::neighbour(shape, distance);
  const Slice home = output_block(shape, from);
  if (home.count == 0) return;
  if (fits(shape, home)) {
    board::Line line;
    board::take(b, line, Writer::shared(from, 0, 0, home.count), home);
    return;
  }
  b.open(distance - 1, home);
  board::fetch_share(b, shape, from, home);
}

void pass_on(Writer& b, const Shape& shape) {
  const Slice mine = my_input(shape);
  if (hand_in_small(b, shape, mine)) return;
  const Rank distance = board::neighbour(shape, -shape.root);
  board::hand_over(b, shape, mine, Writer::exposed(shape.root, distance - 1, 0, mine.count), 0);
}

}  // namespace

plan::Plan single_copy_shared(const Shape& shape) {
  if (shape.size > board::ring_length(ring) + 1) return board(shape);
  Writer b(shape);
  if (shape.size > 1) b.use(ring, std::max(2, shape.size - 1));
  if (shape.rank != shape.root) {
    pass_on(b, shape);
    return b.build();
  }
  place_own_block(b, shape);
  for (Rank distance = 1; distance < shape.size; ++distance) take_in(b, shape, distance);
  return b.build();
}

}  // namespace tutti::collectives::gatherv
