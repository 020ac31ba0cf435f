// SPDX-License-Identifier: BSD-3-Clause
// Bine tree: a binomial tree whose messages stay nearer to each other on a ring of ranks (swing.hpp). Latency, where
// far ranks are many hops or a narrow link away. Cost: ceil(log2 P) (alpha + beta n), over two thirds of the binomial
// tree's ways.
#include "collectives/algorithm.hpp"
#include "collectives/swing.hpp"

namespace tutti::collectives::bcast {

plan::Plan bine(const Shape& shape) {
  Writer b(shape);
  const Tree tree = bine_tree(shape.rank, shape.root, shape.size);
  Handle received;  // the root has the data: it waits for nothing
  if (!tree.top()) received = b.recv(tree.parent, whole(shape));
  for (const Branch& child : tree.children) b.send(child.rank, whole(shape)).after(received);
  return b.build();
}

}  // namespace tutti::collectives::bcast
