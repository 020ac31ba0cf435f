// SPDX-License-Identifier: BSD-3-Clause
// Linear: everybody sends straight to the root, which receives from all at once, each block at its place.
// Bandwidth: nothing is forwarded or copied twice. Cost: (P - 1) alpha + beta (P - 1) n at the root.
//
//     P = 5, root 0:   1>0  2>0  3>0  4>0
#include "collectives/algorithm.hpp"

namespace tutti::collectives::gather {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  if (shape.rank != shape.root) {
    b.send(shape.root, my_input(shape));
    return b.build();
  }
  for (Rank rank = 0; rank < shape.size; ++rank) {
    if (rank == shape.root)
      place_own_block(b, shape);
    else
      b.recv(rank, output_block(shape, rank));
  }
  return b.build();
}

}  // namespace tutti::collectives::gather
