// SPDX-License-Identifier: BSD-3-Clause
// Single copy: the root exposes its data; everybody else copies it straight into the output and says so.
// Bandwidth: each byte is moved once to each rank. Cost: 2 alpha + beta n, all at once.
//
//     P = 3, root 0:    0 expose  >  1, 2 copy  >  1, 2 publish  >  0 done
#include "collectives/board.hpp"

namespace tutti::collectives::bcast {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  if (shape.rank == shape.root) {
    b.publish(0, whole(shape));
    b.await(board::everyone, 0, 0);
    return b.build();
  }
  board::Line line;
  board::take(b, line, Writer::exposed(shape.root, 0, 0, shape.count), whole(shape));
  line.add(b.publish(0, board::nothing(shape.rank, 0)));
  return b.build();
}

}  // namespace tutti::collectives::bcast
