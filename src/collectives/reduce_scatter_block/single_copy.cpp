// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes all its blocks, combines its own of everybody's straight from memory, and says so.
// In place combines in scratch until all have read. Bandwidth: nothing is copied that is not the result.
// Cost: 2 alpha + P beta n + (P - 1) gamma n, n elements a block.
//
//     P = 3     0             1             2
//     expose    a b c         a b c         a b c
//     combine   a             b             c
#include "collectives/board.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  const Operands operands(shape);
  const Slice all = operands.all(), mine = operands.block(shape.rank);
  if (shape.size == 1) operands.finish(b, all, {});
  if (shape.size == 1 || all.count == 0) return b.build();
  b.use(board::Ring::small, 2);
  // Whoever has no block reads nothing.
  std::vector<Rank> readers;
  for (Rank rank = 0; rank < shape.size; ++rank)
    if (rank != shape.rank && operands.block(rank).count > 0) readers.push_back(rank);
  if (!readers.empty()) b.publish(0, all);
  const Slice sum = shape.in_place ? b.scratch(mine.count) : operands.result();
  std::vector<Handle> done;
  if (mine.count > 0) {
    done = board::combine_exposed(b, shape, all, mine, sum);
    b.publish(1, board::nothing(shape.rank, 1)).after(done);
  }
  if (static_cast<Rank>(readers.size()) == shape.size - 1 && mine.count > 0) readers = {board::everyone};
  for (const Rank reader : readers) done.push_back(b.await(reader, 1, 0));
  if (shape.in_place) b.copy(sum, operands.result()).after(done);
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
