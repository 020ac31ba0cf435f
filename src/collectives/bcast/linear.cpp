// SPDX-License-Identifier: BSD-3-Clause
// Linear: the root sends to everybody. For very few ranks. Model in Siebert 2006. Cost: (P - 1) (alpha + beta n).
//
//     P = 5, root 0:   0>1  0>2  0>3  0>4
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  if (shape.rank != shape.root) b.recv(shape.root, whole(shape));
  for (Rank step = 1; shape.rank == shape.root && step < shape.size; ++step)
    b.send(rank_at(step, shape.root, shape.size), whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::bcast
