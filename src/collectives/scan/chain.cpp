// SPDX-License-Identifier: BSD-3-Clause
// Chain: what the ranks before have combined comes from the left; everybody adds its own and sends it on, segment by
// segment, so that all links carry data at once. Bandwidth: for few ranks and long messages.
// Cost with segments of m: (P - 2 + n/m) (alpha + beta m + gamma m).
//
//     P = 4, segments a b c:   0 -abc-> 1 -abc-> 2 -abc-> 3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::scan {

plan::Plan chain(const Shape& shape) {
  Writer b(shape);
  const Tree line = collectives::chain(shape.rank, 0, shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) {
    const Slice mine = operand(shape, segment);
    Handle ready = b.copy(mine, segment);
    if (!line.top()) ready = b.recv_reduce(line.parent, segment, Side::left).after(ready);
    for (const Branch& next : line.children)
      b.send(next.rank, line.top() ? mine : segment).after(line.top() ? Handle() : ready);
  }
  return b.build();
}

}  // namespace tutti::collectives::scan
