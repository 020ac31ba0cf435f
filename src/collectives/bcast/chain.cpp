// SPDX-License-Identifier: BSD-3-Clause
// Chain: everybody passes the data on to the next rank, segment by segment, so that all links carry data at once.
// Bandwidth: for few ranks and long messages; above some size no tree beats it (Siebert 2006, theorem A.2).
// Cost with segments of m: (P - 2 + n/m) (alpha + beta m).
//
//     P = 5, root 0, segments a b c
//     time   0>1  1>2  2>3  3>4
//     0      a
//     1      b    a
//     2      c    b    a
//     3           c    b    a
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan chain(const Shape& shape) {
  Writer b(shape);
  const Tree line = collectives::chain(shape.rank, shape.root, shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) {
    Handle received;
    if (!line.top()) received = b.recv(line.parent, segment);
    for (const Branch& next : line.children) b.send(next.rank, segment).after(received);
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
