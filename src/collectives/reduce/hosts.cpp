// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host the leader combines everybody's cells, then the leaders' sums go to the root, who leads its host,
// by messages. Each host sends the data once. The order of the ranks is kept where hosts follow each other.
// Cost: that of a reduce on the board, and of one among H hosts.
//
//     hosts 0 1 2 | 3 4, root 1:    0 # 2 #  >  1 = 0+1+2      4 #  >  3 = 3+4      3 -> 1
#include "collectives/compose.hpp"

namespace tutti::collectives::reduce {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count, shape.root);
  const bool at_root = shape.rank == shape.root;
  const Slice mine = operand(shape, whole(shape));
  Slice sum = at_root ? whole(shape) : mine;
  if (!b.alone()) {
    if (b.leads() && !at_root) sum = b.scratch(shape.count);
    Shape up = b.shape_here(b.leader(), shape.count);
    up.in_place = shape.in_place;
    b.here(Kind::reduce, up, mine, sum);
  }
  if (!b.leads()) return b.build();
  Shape across = b.shape_among(b.leaders(), shape.root, shape.count);
  across.in_place = at_root && (shape.in_place || !b.alone());
  b.among(b.leaders(), Kind::reduce, across, at_root ? mine : sum, sum);
  return b.build();
}

}  // namespace tutti::collectives::reduce
