// SPDX-License-Identifier: BSD-3-Clause
// Single copy, shared work: everybody exposes its data, combines one share of all of it into scratch, and exposes that;
// the root collects the shares.
// Bandwidth, for more than a few ranks: everybody works. Cost: 4 alpha + (1 + (P-1)/P) beta n + gamma n.
//
//     P = 3, root 0     0 expose      1 expose      2 expose
//                       share 0       share 1 #     share 2 #     of all three inputs
//                       collect 1, 2, then publish
#include "collectives/board.hpp"

namespace tutti::collectives::reduce {

plan::Plan single_copy_shared(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 3);
  b.publish(0, mine);
  const bool root = shape.rank == shape.root;
  const Slice share = board::part_of(whole(shape), shape.rank, shape.size);
  const Slice sum = root ? share : b.scratch(share.count);
  std::vector<Handle> done;
  if (share.count > 0) done = board::combine_exposed(b, shape, mine, operand(shape, share), sum);
  if (!root) {
    if (share.count > 0) b.publish(1, sum).after(done);
    b.await(shape.root, 2, 0);
    return b.build();
  }
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    const Slice theirs = board::part_of(whole(shape), from, shape.size);
    if (theirs.count == 0) continue;
    board::Line line;
    done.push_back(board::take(b, line, Writer::exposed(from, 1, 0, theirs.count), theirs));
  }
  b.publish(2, board::nothing(shape.rank, 2)).after(done);
  return b.build();
}

}  // namespace tutti::collectives::reduce
