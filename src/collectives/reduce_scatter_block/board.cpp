// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes all its blocks in a cell, waits for everybody's, and combines its own block of them in the
// order of the ranks. Latency: one step of the memory. Cost: alpha + P beta n + (P - 1) gamma n, n elements a block.
//
//     P = 3    0           1           2
//     publish  #abc        #abc        #abc
//     combine  a           b           c         each: 0 op (1 op 2)
#include "collectives/board.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  const Operands operands(shape);
  const Slice all = operands.all(), mine = operands.block(shape.rank);
  if (shape.size == 1) operands.finish(b, all, {});
  if (shape.size == 1 || all.count == 0) return b.build();
  b.use(board::Ring::small, 1);
  board::Line publishing;
  const Handle written = board::put(b, publishing, 0, all);
  if (mine.count == 0) return b.build();
  // In place, the cell keeps my data when the output is written over.
  board::Line line(shape.in_place ? written : Handle());
  line.add(b.await(board::everyone, 0, all.count));
  board::fold(b, line, shape, operands.result(), false, [&](Rank rank) {
    return rank == shape.rank && !shape.in_place ? mine : Writer::shared(rank, 0, mine.offset, mine.count);
  });
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
