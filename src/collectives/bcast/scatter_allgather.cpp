// SPDX-License-Identifier: BSD-3-Clause
// Scatter, then allgather: the data is cut into P blocks; a binomial tree brings every rank the blocks of its subtree,
// then all blocks go around a ring, past those who have them. Bandwidth: everybody receives the data once and sends it
// at most once. Barnett, Gupta, Payne, Shuler, van de Geijn, Watts 1994, doi 10.1109/SHPCC.1994.296665.
// Cost: (log2 P + P - 1) alpha + 2 (P - 1)/P beta n.
//
//     P = 5, root 0, block by position    0      1   2    3   4
//     after the scatter                   01234  1   23   3   4
//     ring, step 0 (block x leaves x)     0>1 1>2   3>4: block 3; 2>3 has it; 4>0 has all
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan scatter_allgather(const Shape& shape) {
  Writer b(shape);
  const auto share = [&](const Branch& part) { return blocks(whole(shape), part.begin, part.end, shape.size); };
  const auto tree_of = [&](Rank rank) { return binomial_tree(rank, shape.root, shape.size, shape.parameters.radix); };
  const Tree tree = tree_of(shape.rank);
  Handle received;
  if (!tree.top()) received = b.recv(tree.parent, share(tree.here));
  for (const Branch& child : tree.children) b.send(child.rank, share(child)).after(received);

  Ring line = ring(shape.rank, shape.root, shape.size);
  line.held = tree.here.size();
  line.held_by_right = tree_of(line.right).here.size();
  std::vector<Handle> have(static_cast<std::size_t>(shape.size), received);
  pass_around(b, line, cut(whole(shape), shape.size), have);
  return b.build();
}

}  // namespace tutti::collectives::bcast
