// SPDX-License-Identifier: BSD-3-Clause
// Board tree: empty cells climb a flat tree, then one cell of rank 0 lets everybody go.
// For many ranks, where each reading the cells of all others is too much: radix - 1 reads a level, and one.
// Cost: (log_k P + 1) alpha + k log_k P reads of a cache line.
//
//     P = 8, radix 3:   1, 2, (4, 5 >) 3, (7 >) 6  >  0  >  everybody
#include "collectives/board.hpp"

namespace tutti::collectives::barrier {

plan::Plan board_tree(const Shape& shape) {
  Writer b(shape);
  if (shape.size == 1) return b.build();
  b.use(board::Ring::small, 2);
  std::vector<Handle> come;
  for (const Rank child : board::children(shape.rank, shape.size, board::radix(shape)))
    come.push_back(b.await(child, 0, 0));
  const std::int32_t cell = shape.rank == 0 ? 1 : 0;
  // Of two ranks, the cell of each says enough.
  if (shape.size == 2) come.clear();
  b.publish(cell, board::nothing(shape.rank, cell)).after(come);
  if (shape.rank != 0) b.await(0, 1, 0);
  return b.build();
}

}  // namespace tutti::collectives::barrier
