// SPDX-License-Identifier: BSD-3-Clause
// Chain: what the ranks before have combined comes from the left and is the result; everybody adds its own and sends it
// on, segment by segment, so that all links carry data at once. Bandwidth: for few ranks and long messages.
// Cost with segments of m: (P - 2 + n/m) (alpha + beta m + gamma m).
//
//     P = 4, segments a b c:   0 -abc-> 1 -abc-> 2 -abc-> 3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::exscan {

plan::Plan chain(const Shape& shape) {
  Writer b(shape);
  const Tree line = collectives::chain(shape.rank, 0, shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) {
    const Slice mine = operand(shape, segment);
    if (line.top() || line.leaf()) {
      if (!line.top()) b.recv(line.parent, segment);
      for (const Branch& next : line.children) b.send(next.rank, mine);
      continue;
    }
    const Slice sum = b.scratch(segment.count);
    const Handle saved = b.copy(mine, sum);
    const Handle received = b.recv(line.parent, segment).after(shape.in_place ? saved : Handle());
    const Handle ready = b.reduce(segment, sum, Side::left).after({saved, received});
    b.send(line.children.front().rank, sum).after(ready);
  }
  return b.build();
}

}  // namespace tutti::collectives::exscan
