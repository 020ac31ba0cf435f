// SPDX-License-Identifier: BSD-3-Clause
// Gather, then bcast, along one binomial tree with rank 0 on top: blocks are collected in the output itself. The fewest
// messages, 2 (P - 1), but everything passes rank 0. Radix k gives k - 1 children a level.
// Cost: 2 ceil(log2 P) alpha + (1 + log2 P) P beta n.
//
//     P = 5    up:   1>0 3>2 | 2>0 with 23 | 4>0      down:   0>4 | 0>2 | 0>1 2>3 with all
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgather {

plan::Plan gather_bcast(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binomial_tree(shape.rank, 0, shape.size, shape.parameters.radix);
  const auto part = [&](const Branch& branch) { return spread(all_output(shape), branch, shape.size).ahead; };
  const Slice home = output_block(shape, shape.rank), mine = contribution(shape, home);
  const Slice collected = tree.top() || !tree.leaf() ? part(tree.here) : mine;
  std::vector<Handle> ready;
  if (collected != mine) ready.push_back(b.copy(mine, home));
  for (const Branch& child : tree.children) ready.push_back(b.recv(child.rank, part(child)));
  if (!tree.top()) {
    const Handle sent = b.send(tree.parent, collected).after(ready);
    ready = {b.recv(tree.parent, all_output(shape)).after(collected.buffer == plan::Buffer::output ? sent : Handle())};
  }
  for (const Branch& child : tree.children) b.send(child.rank, all_output(shape)).after(ready);
  return b.build();
}

}  // namespace tutti::collectives::allgather
