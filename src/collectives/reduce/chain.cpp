// SPDX-License-Identifier: BSD-3-Clause
// Chain: the last rank sends to the one before it, which combines and sends on, segment by segment, so that all links
// carry data at once. Operations that do not commute end at rank 0, which sends the result to the root.
// Bandwidth: for few ranks and long messages. Cost with segments of m: (P - 2 + n/m) (alpha + beta m + gamma m).
//
//     P = 5, root 0, segments a b c:   4 -abc-> 3 -abc-> 2 -abc-> 1 -abc-> 0
#include "collectives/reduce/along.hpp"

namespace tutti::collectives::reduce {

plan::Plan chain(const Shape& shape) {
  Writer b(shape);
  const Tree line = collectives::chain(shape.rank, start(shape), shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) along(b, shape, line, segment);
  return b.build();
}

}  // namespace tutti::collectives::reduce
