// SPDX-License-Identifier: BSD-3-Clause
// Linear: the root sends everybody its block. Bandwidth: nothing is forwarded or copied twice.
// Cost: (P - 1) alpha + beta (P - 1) n at the root.
//
//     P = 5, root 0:   0>1  0>2  0>3  0>4
#include "collectives/algorithm.hpp"

namespace tutti::collectives::scatter {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  if (shape.rank != shape.root) {
    b.recv(shape.root, my_output(shape));
    return b.build();
  }
  for (Rank step = 1; step < shape.size; ++step) {
    const Rank rank = rank_at(step, shape.root, shape.size);
    b.send(rank, input_block(shape, rank));
  }
  keep_own_block(b, shape);
  return b.build();
}

}  // namespace tutti::collectives::scatter
