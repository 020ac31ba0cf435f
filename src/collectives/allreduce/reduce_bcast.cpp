// SPDX-License-Identifier: BSD-3-Clause
// Reduce, then bcast, along one binomial tree with rank 0 on top. Fewer messages than recursive doubling, 2 (P - 1),
// but twice as deep. Hoefler 2008 (LibNBC) uses it for short messages. Cost: ceil(log2 P) (2 alpha + 2 beta n +
// gamma n).
//
//     P = 5    up:   1>0 3>2 | 2>0 | 4>0      down:   0>4 | 0>2 | 0>1 2>3
#include "collectives/reduce/along.hpp"

namespace tutti::collectives::allreduce {

plan::Plan reduce_bcast(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binomial_tree(shape.rank, 0, shape.size, shape.parameters.radix);
  const Slice result = whole(shape), mine = operand(shape, result);
  const Slice sum = tree.top() || !tree.leaf() ? result : mine;
  Handle ready = reduce::combine(b, tree, mine, sum);
  if (!tree.top()) {
    const Handle sent = b.send(tree.parent, sum).after(ready);
    ready = b.recv(tree.parent, result).after(sum == result ? sent : Handle());
  }
  for (const Branch& child : tree.children) b.send(child.rank, result).after(ready);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
