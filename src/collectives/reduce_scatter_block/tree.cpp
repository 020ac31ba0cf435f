// SPDX-License-Identifier: BSD-3-Clause
// Tree: everybody's data is combined up a binomial tree, then the blocks of the result go down it: reduce, then
// scatter. The fewest messages, 2 (P - 1), and the order of the ranks is kept; but everything passes rank 0. Radix k
// gives k - 1 children a level. Latency: for short messages. Cost: 2 ceil(log2 P) alpha + (1 + log2 P) P (beta + gamma)
// n.
//
//     P = 5    up:   1>0 3>2 | 2>0 | 4>0 with all blocks      down:   0>4 with 4 | 0>2 with 23 | 0>1 with 1, 2>3 with 3
#include "collectives/reduce/along.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan tree(const Shape& shape) {
  Writer b(shape);
  Operands operands(shape);
  const Tree tree = binomial_tree(shape.rank, 0, shape.size, shape.parameters.radix);
  const Slice all = operands.all();
  if (tree.leaf()) {
    if (tree.top()) {
      operands.finish(b, all, {});
    } else {
      operands.read(all, b.send(tree.parent, all));
      operands.overwrite(b.recv(tree.parent, operands.result()));
    }
    return b.build();
  }
  const Slice sum = b.scratch(all.count);
  const auto part = [&](const Branch& branch) {
    const Slice blocks = operands.blocks(branch.begin, branch.end);
    return sum.part(blocks.offset - all.offset, blocks.count);
  };
  Handle ready = reduce::combine(b, tree, all, sum);
  if (!tree.top()) {
    const Handle sent = b.send(tree.parent, sum).after(ready);
    ready = b.recv(tree.parent, part(tree.here)).after(sent);
  }
  for (const Branch& child : tree.children) b.send(child.rank, part(child)).after(ready);
  operands.finish(b, part(tree.here).part(0, operands.result().count), {ready});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
