// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: everybody gets the blocks of its subtree in one message and sends its children theirs. Radix k gives
// k - 1 children a level. Latency: the root sends few messages; but blocks are forwarded up to log2 P times.
// Cost: ceil(log2 P) alpha + beta (P - 1) n at the root.
//
//     P = 6, root 0:   round 0  0>4 with 45
//                      round 1  0>2 with 23, 4>5 with 5
//                      round 2  0>1 with 1, 2>3 with 3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::scatter {
namespace {

/// The root's ranks may go around the end of the group; such a child's blocks are put together here.
void hand_down(Writer& b, const Branch& child, Slice input, Rank size) {
  const auto [ahead, around] = spread(input, child, size);
  if (around.count == 0) {
    b.send(child.rank, ahead);
    return;
  }
  const Slice parcel = b.scratch(ahead.count + around.count);
  const Handle first = b.copy(ahead, parcel.part(0, ahead.count));
  const Handle second = b.copy(around, parcel.part(ahead.count, around.count));
  b.send(child.rank, parcel).after({first, second});
}

}  // namespace

plan::Plan binomial(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binomial_tree(shape.rank, shape.root, shape.size, shape.parameters.radix);
  if (tree.top()) {
    for (const Branch& child : tree.children) hand_down(b, child, all_input(shape), shape.size);
    keep_own_block(b, shape);
  } else if (tree.leaf()) {
    b.recv(tree.parent, my_output(shape));
  } else {
    const Slice parcel = b.scratch(tree.here.size() * shape.count);
    const Handle received = b.recv(tree.parent, parcel);
    for (const Branch& child : tree.children) b.send(child.rank, of_branch(parcel, tree, child)).after(received);
    b.copy(parcel.part(0, shape.count), my_output(shape)).after(received);
  }
  return b.build();
}

}  // namespace tutti::collectives::scatter
