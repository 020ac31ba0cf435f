// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its data; the root combines it from there in the order of the ranks, and says so.
// Few ranks: the root does all the work, without any copy. Cost: 2 alpha + (P - 1)(beta + gamma) n at the root.
//
//     P = 3, root 0:    1, 2 expose  >  0 op 1 op 2  >  0 publish  >  1, 2 done
#include "collectives/board.hpp"

namespace tutti::collectives::reduce {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const Slice mine = operand(shape, whole(shape));
  if (shape.size == 1) b.copy(mine, whole(shape));
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  if (shape.rank != shape.root) {
    b.publish(0, mine);
    b.await(shape.root, 0, 0);
    return b.build();
  }
  const std::vector<Handle> combined = board::combine_exposed(b, shape, mine, mine, whole(shape));
  b.publish(0, board::nothing(shape.rank, 0)).after(combined);
  return b.build();
}

}  // namespace tutti::collectives::reduce
