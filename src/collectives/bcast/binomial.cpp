// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: whoever has the data sends it on, to the largest subtree first. Radix k sends to k - 1 children a
// level. Latency: for short messages. Models in Siebert 2006; trees in Thakur, Rabenseifner, Gropp 2005,
// doi 10.1177/1094342005051521. Cost: ceil(log2 P) (alpha + beta n).
//
//     P = 6, root 0:   0 -> 4, 2, 1     round 0  0>4
//                      4 -> 5           round 1  0>2 4>5
//                      2 -> 3           round 2  0>1 2>3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan binomial(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binomial_tree(shape.rank, shape.root, shape.size, shape.parameters.radix);
  Handle received;  // the root has the data: it waits for nothing
  if (!tree.top()) received = b.recv(tree.parent, whole(shape));
  for (const Branch& child : tree.children) b.send(child.rank, whole(shape)).after(received);
  return b.build();
}

}  // namespace tutti::collectives::bcast
