// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: everybody sends all it has combined to the rank `distance` behind it, which puts it before its
// own; the distance doubles. Any P, and reductions need not commute. Latency: for short messages.
// Hillis, Steele 1986, doi 10.1145/7902.7903. Cost: ceil(log2 P) (alpha + beta n + gamma n).
//
//     P = 5    0>1 1>2 2>3 3>4     0   01   12    23     34
//              0>2 1>3 2>4         0   01   012   0123   1234
//              0>4                 0   01   012   0123   01234
#include "collectives/algorithm.hpp"

namespace tutti::collectives::scan {

plan::Plan recursive_doubling(const Shape& shape) {
  Writer b(shape);
  const Slice sum = whole(shape);
  const Slice theirs = b.scratch(shape.rank > 0 ? shape.count : 0);
  Handle ready = b.copy(operand(shape, sum), sum);
  Handle used;  // after which `theirs` may be written again
  for (Count step = 1; step < shape.size; step *= 2) {
    const auto distance = static_cast<Rank>(step);
    Handle sent;
    if (shape.rank + step < shape.size) sent = b.send(shape.rank + distance, sum).after(ready);
    if (shape.rank < distance) continue;
    const Handle received = b.recv(shape.rank - distance, theirs).after(used);
    ready = used = b.reduce(theirs, sum, Side::left).after({ready, sent, received});
  }
  return b.build();
}

}  // namespace tutti::collectives::scan
