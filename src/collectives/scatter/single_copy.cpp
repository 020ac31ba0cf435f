// SPDX-License-Identifier: BSD-3-Clause
// Single copy: the root exposes all blocks; everybody copies its own straight into the output, and says so.
// Bandwidth: each byte is moved once, all blocks at a time. Cost: 2 alpha + beta n.
//
//     P = 3, root 0:    0 exposes  >  1, 2 copy  >  1, 2 publish  >  0 done
#include "collectives/board.hpp"

namespace tutti::collectives::scatter {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const bool root = shape.rank == shape.root;
  const Slice all = all_input(shape);
  if (shape.size == 1) keep_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  if (root) {
    b.publish(0, all);
    keep_own_block(b, shape);
    b.await(board::everyone, 0, 0);
    return b.build();
  }
  board::Line line;
  line.add(b.await(shape.root, 0, all.count));
  line.add(b.copy(Writer::exposed(shape.root, 0, shape.rank * shape.count, shape.count), my_output(shape)));
  line.add(b.publish(0, board::nothing(shape.rank, 0)));
  return b.build();
}

}  // namespace tutti::collectives::scatter
