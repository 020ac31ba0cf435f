// SPDX-License-Identifier: BSD-3-Clause
// Ring: block x starts at rank x + 1 and goes around the ring, each rank adding its part, until it is complete at rank
// x. It starts each sum at another rank, so the operation must commute. Bandwidth: only neighbours talk, and everybody
// sends and receives the data less than once. Patarasuk, Yuan 2009, doi 10.1016/j.jpdc.2008.09.002.
// Cost: (P - 1) (alpha + beta n + gamma n), n elements a block.
//
//     P = 3    0        1        2
//     step 0   c>1      a>2      b>0        partial sums
//     step 1   b>1      c>2      a>0        now a is complete at 0, b at 1, c at 2
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan ring(const Shape& shape) {
  Writer b(shape);
  Operands operands(shape);
  const Ring line = collectives::ring(shape.rank, 0, shape.size);
  const Count room = shape.size > 2 ? operands.largest() : 0;
  const Slice spare[] = {b.scratch(room), b.scratch(shape.size > 3 ? room : 0)};  // one leaves while the next comes
  Handle left[2];                                                                 // when it has left
  Slice leaving = operands.block(line.left);
  Handle ready;
  for (Rank step = 1; step < shape.size; ++step) {
    const std::size_t here = step % 2 == 0 ? 1 : 0;
    const Handle sent = b.send(line.right, leaving).after(ready);
    if (step == 1) operands.read(leaving, sent);
    if (sent.exists()) left[1 - here] = sent;
    const Slice mine = operands.block(around(shape.rank - step - 1, shape.size));
    leaving = step + 1 == shape.size ? operands.sum(b) : spare[here].part(0, mine.count);
    const Handle placed = b.copy(mine, leaving).after(left[here]);
    operands.read(mine, placed);
    ready = b.recv_reduce(line.left, leaving, Side::left).after(placed);
  }
  if (shape.size == 1) leaving = operands.all();
  operands.finish(b, leaving, {ready});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
