// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduce/along.hpp"

#include <ranges>

namespace tutti::collectives::reduce {

Handle combine(Writer& b, const Tree& tree, Slice mine, Slice sum) {
  Handle ready = b.copy(mine, sum);
  for (const Branch& child : std::views::reverse(tree.children))
    ready = b.recv_reduce(child.rank, sum, Side::right).after(ready);
  return ready;
}

void along(Writer& b, const Shape& shape, const Tree& tree, Slice result) {
  const bool at_root = shape.rank == shape.root;
  const Slice mine = operand(shape, result);
  const Slice sum = tree.top() && at_root ? result : tree.leaf() ? mine : b.scratch(result.count);
  Handle ready = combine(b, tree, mine, sum);
  if (!tree.top()) ready = b.send(tree.parent, sum).after(ready);
  if (tree.root == shape.root) return;
  // The tree ends at rank 0 to keep the order: from there the result goes to the root.
  if (tree.top()) b.send(shape.root, sum).after(ready);
  if (at_root) b.recv(tree.root, result).after(shape.in_place ? ready : Handle());
}

}  // namespace tutti::collectives::reduce
