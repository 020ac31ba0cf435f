// SPDX-License-Identifier: BSD-3-Clause
// Linear: everybody sends to the root, which combines one after the other: lower ranks downwards from its own side,
// then higher ranks upwards, so that the order of the ranks is kept. For very few ranks.
// Cost: (P - 1) (alpha + beta n + gamma n).
//
//     P = 5, root 2:   (0 + (1 + 2)) + 3) + 4
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  const Slice result = whole(shape), mine = operand(shape, result);
  if (shape.rank != shape.root) {
    b.send(shape.root, mine);
    return b.build();
  }
  Handle ready = b.copy(mine, result);
  for (Rank rank = shape.root - 1; rank >= 0; --rank) ready = b.recv_reduce(rank, result, Side::left).after(ready);
  for (Rank rank = shape.root + 1; rank < shape.size; ++rank)
    ready = b.recv_reduce(rank, result, Side::right).after(ready);
  return b.build();
}

}  // namespace tutti::collectives::reduce
