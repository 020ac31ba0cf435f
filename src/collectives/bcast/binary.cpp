// SPDX-License-Identifier: BSD-3-Clause
// Binary tree: everybody passes the data on to two ranks, segment by segment, so that all levels carry data at once.
// Between the binomial tree and the chain: a pipeline of few stages, but everybody sends the data twice. Pjesivac-
// Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra 2007, doi 10.1007/s10586-007-0012-0.
// Cost with segments of m: (log2 P + n/m) 2 (alpha + beta m).
//
//     P = 6, root 0:   0 -> 1, 4    1 -> 2, 3    4 -> 5
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan binary(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binary_tree(shape.rank, shape.root, shape.size);
  for (const Slice& segment : segments(whole(shape), segment_of(shape))) {
    Handle received;
    if (!tree.top()) received = b.recv(tree.parent, segment);
    for (const Branch& child : tree.children) b.send(child.rank, segment).after(received);
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
