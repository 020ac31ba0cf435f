// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: everybody collects the blocks of its subtree and sends them up in one message. Radix k gives k - 1
// children a level. Latency: the root receives few messages; but blocks are forwarded up to log2 P times.
// Cost: ceil(log2 P) alpha + beta (P - 1) n at the root.
//
//     P = 6, root 0:   round 0  1>0 3>2 5>4     0: 01   2: 23   4: 45
//                      round 1  2>0             0: 0123
//                      round 2  4>0             0: 012345
#include "collectives/algorithm.hpp"

namespace tutti::collectives::gather {
namespace {

/// The root's ranks may go around the end of the group; such a child's blocks are parted here.
void collect(Writer& b, const Branch& child, Slice output, Rank size) {
  const auto [ahead, around] = spread(output, child, size);
  if (around.count == 0) {
    b.recv(child.rank, ahead);
    return;
  }
  const Slice parcel = b.scratch(ahead.count + around.count);
  const Handle received = b.recv(child.rank, parcel);
  b.copy(parcel.part(0, ahead.count), ahead).after(received);
  b.copy(parcel.part(ahead.count, around.count), around).after(received);
}

}  // namespace

plan::Plan binomial(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binomial_tree(shape.rank, shape.root, shape.size, shape.parameters.radix);
  if (tree.top()) {
    place_own_block(b, shape);
    for (const Branch& child : tree.children) collect(b, child, all_output(shape), shape.size);
  } else if (tree.leaf()) {
    b.send(tree.parent, my_input(shape));
  } else {
    const Slice parcel = b.scratch(tree.here.size() * shape.count);
    std::vector<Handle> ready{b.copy(my_input(shape), parcel.part(0, shape.count))};
    for (const Branch& child : tree.children) ready.push_back(b.recv(child.rank, of_branch(parcel, tree, child)));
    b.send(tree.parent, parcel).after(ready);
  }
  return b.build();
}

}  // namespace tutti::collectives::gather
