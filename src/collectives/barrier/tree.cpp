// SPDX-License-Identifier: BSD-3-Clause
// Tree: arrivals go up a binomial tree, the release comes down it. Radix k gives k - 1 children a level; radix P is the
// linear barrier. Fewer messages than dissemination, 2 (P - 1), but twice as deep.
// Cost: 2 ceil(log2 P) alpha.
//
//     P = 5    up:   1>0 3>2 | 2>0 | 4>0      down:   0>4 | 0>2 | 0>1 2>3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::barrier {

plan::Plan tree(const Shape& shape) {
  plan::Builder b(shape.rank, shape.size);
  const Tree tree = binomial_tree(shape.rank, 0, shape.size, shape.parameters.radix);
  const Slice nothing = b.scratch(0);
  std::vector<Handle> arrived;
  for (const Branch& child : tree.children) arrived.push_back(b.recv(child.rank, nothing));
  Handle released;
  if (!tree.top()) {
    b.send(tree.parent, nothing).after(arrived);
    released = b.recv(tree.parent, nothing);
  }
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    const Branch& child = tree.children[i];
    std::vector<Handle> needed = tree.top() ? arrived : std::vector{released};
    if (tree.top() && child.size() <= 2) needed[i] = {};  // two know of each other by their own messages
    b.send(child.rank, nothing).after(needed);
  }
  return b.build();
}

}  // namespace tutti::collectives::barrier
