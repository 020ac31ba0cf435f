// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its data, combines one share of everybody's, exposes that, and copies the others'.
// Bandwidth: nothing is copied that is not the result. Cost: 3 alpha + (1 + (P-1)/P) beta n + gamma n.
// In place: share r of rank r's output is read by nobody else before the result is in it, and share j is written over
// only when rank j, its only reader, has published its result.
//
//     P = 3     0             1             2
//     expose    0 0 0         1 1 1         2 2 2
//     combine   s . .         . s .         . . s
//     copy      s s s         s s s         s s s
#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 3);
  b.publish(0, mine);
  const Slice share = board::part_of(whole(shape), shape.rank, shape.size);
  if (share.count > 0) {
    const std::vector<Handle> combined = board::combine_exposed(b, shape, mine, operand(shape, share), share);
    b.publish(1, share).after(combined);
  }
  std::vector<Handle> copied;
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank rank = board::neighbour(shape, distance);
    const Slice theirs = board::part_of(whole(shape), rank, shape.size);
    if (theirs.count == 0) continue;
    board::Line line;
    copied.push_back(board::take(b, line, Writer::exposed(rank, 1, 0, theirs.count), theirs));
  }
  if (!copied.empty()) b.publish(2, board::nothing(shape.rank, 2)).after(copied);
  if (share.count > 0) b.await(board::everyone, 2, 0);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
