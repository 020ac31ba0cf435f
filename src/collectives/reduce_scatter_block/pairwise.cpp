// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: in round s everybody sends the rank s before it its block and combines what comes from the rank s behind;
// where the ranks end, from the lower ones downwards, so that the order of the ranks is kept.
// Bandwidth: nothing is forwarded; for few ranks. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521.
// Cost: (P - 1) (alpha + beta n + gamma n), n elements a block.
//
//     P = 4, rank 1:   sends   b0>0  b3>3  b2>2
//                      from 2, then 3, then 0:    0 + ((1 + 2) + 3)
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan pairwise(const Shape& shape) {
  Writer b(shape);
  Operands operands(shape);
  const Slice sum = operands.sum(b), mine = operands.block(shape.rank);
  Handle ready = b.copy(mine, sum);
  operands.read(mine, ready);
  for (Rank step = 1; step < shape.size; ++step) {
    const Rank to = around(shape.rank - step, shape.size);
    operands.read(operands.block(to), b.send(to, operands.block(to)));
    const bool higher = shape.rank + step < shape.size;
    const Rank from = higher ? shape.rank + step : shape.size - 1 - step;
    ready = b.recv_reduce(from, sum, higher ? Side::right : Side::left).after(ready);
  }
  operands.finish(b, sum, {ready});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
