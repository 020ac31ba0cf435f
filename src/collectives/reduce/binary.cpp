// SPDX-License-Identifier: BSD-3-Clause
// Binary tree: everybody combines what two ranks bring and sends it up, segment by segment, so that all levels carry
// data at once. Operations that do not commute go up to rank 0, which sends the result to the root. Between the
// binomial tree and the chain: a pipeline of few stages. Cost with segments of m: (log2 P + n/m) 2 (alpha + beta m +
// gamma m).
//
//     P = 6, root 0:   2, 3 -> 1    5 -> 4    1, 4 -> 0
#include "collectives/reduce/along.hpp"

namespace tutti::collectives::reduce {

plan::Plan binary(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binary_tree(shape.rank, start(shape), shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) along(b, shape, tree, segment);
  return b.build();
}

}  // namespace tutti::collectives::reduce
