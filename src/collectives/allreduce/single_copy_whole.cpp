// SPDX-License-Identifier: BSD-3-Clause
// Single copy, whole: everybody exposes its data and combines all of everybody's, in the order of the ranks, so that
// all get the same bits; then everybody says that it has read. One step of the memory where sharing the work takes two:
// for two or three ranks. In place combines in scratch until all have read. Cost: 2 alpha + (P - 1)(beta + gamma) n.
//
//     P = 3     0             1             2
//     expose    0 0 0         1 1 1         2 2 2
//     combine   s s s         s s s         s s s

#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {
namespace {

/// More than two ranks: each segment from the highest rank down.
std::vector<Handle> fold_exposed(Writer& b, const Shape& shape, Slice mine, Slice target) {
  const Handle seen = b.await(board::everyone, 0, mine.count);
  std::vector<Handle> combined;
  for (const Slice part : segments(mine, board::exposed_segment(shape, mine.count))) {
    board::Line line(seen);
    board::fold(b, line, shape, target.part(part.offset - mine.offset, part.count), false, [&](Rank rank) {
      return rank == shape.rank ? part : Writer::exposed(rank, 0, part.offset - mine.offset, part.count);
    });
    combined.push_back(line.last());
  }
  return combined;
}

}  // namespace

plan::Plan single_copy_whole(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 2);
  b.publish(0, mine);
  const Slice sum = shape.in_place ? b.scratch(shape.count) : whole(shape);
  std::vector<Handle> done =
      shape.size == 2 ? board::combine_exposed(b, shape, mine, mine, sum) : fold_exposed(b, shape, mine, sum);
  b.publish(1, board::nothing(shape.rank, 1)).after(done);
  done.push_back(b.await(board::everyone, 1, 0));
  if (shape.in_place) b.copy(sum, whole(shape)).after(done);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
