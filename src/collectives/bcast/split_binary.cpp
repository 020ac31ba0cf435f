// SPDX-License-Identifier: BSD-3-Clause
// Split binary tree: one half of the data goes down each half of a binary tree, segment by segment; then the ranks of
// the two halves swap what they have in pairs, and the root serves the one that may be left over. Bandwidth: everybody
// sends at most 1.5 times the data. Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra 2007,
// doi 10.1007/s10586-007-0012-0. Cost with segments of m: (log2 P + n/2m) 2 (alpha + beta m) + beta n/2.
//
//     P = 6, root 0, halves a b:   0 -a-> 1    1 -a-> 2, 3    0 -b-> 4    4 -b-> 5
//                                  1 = 4    2 = 5    0 -b-> 3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {
namespace {

/// One half of the data on its way down the tree; what has come of it goes on to the partner, too, if there is one.
void pass_down(Writer& b, const Tree& tree, const std::vector<Slice>& half, Rank partner) {
  for (const Slice& segment : half) {
    const Handle received = b.recv(tree.parent, segment);
    for (const Branch& child : tree.children) b.send(child.rank, segment).after(received);
    if (partner >= 0) b.send(partner, segment).after(received);
  }
}

}  // namespace

plan::Plan split_binary(const Shape& shape) {
  Writer b(shape);
  const Tree tree = binary_tree(shape.rank, shape.root, shape.size);
  const Rank first = shape.size / 2;  // positions in the first half of the tree; the second may have one less
  const bool left_over = shape.size % 2 == 0;
  std::vector<Slice> half[2];
  for (Rank i = 0; i < 2; ++i) half[i] = segments(blocks(whole(shape), i, i + 1, 2), segment_of(shape));
  if (tree.top()) {
    for (const Branch& child : tree.children)
      for (const Slice& segment : half[child.begin > first]) b.send(child.rank, segment);
    if (left_over)
      for (const Slice& segment : half[1]) b.send(rank_at(first, shape.root, shape.size), segment);
    return b.build();
  }
  const Rank here = tree.here.begin;
  const bool second = here > first, alone = left_over && here == first;
  const Rank other = second ? here - first : here + first;
  const Rank partner = alone ? -1 : rank_at(other, shape.root, shape.size);
  pass_down(b, tree, half[second], partner);
  for (const Slice& segment : half[!second]) b.recv(alone ? shape.root : partner, segment);
  return b.build();
}

}  // namespace tutti::collectives::bcast
