// SPDX-License-Identifier: BSD-3-Clause
// Two trees: one half of the data down each of two binary trees over all ranks but the root, segment by segment. Who
// passes one half on is a leaf for the other, so that everybody sends no more than it receives. Bandwidth, in few
// stages: for many ranks. Sanders, Speck, Träff 2009, doi 10.1016/j.parco.2009.09.001.
// Cost with segments of m: (2 log2 P + n/m) (alpha + beta m).
//
//     P = 7, root 0, halves a b:   0 -a-> 4    4 -a-> 2, 6    2 -a-> 1, 3    6 -a-> 5
//                                  0 -b-> 3    3 -b-> 5, 1    5 -b-> 6, 4    1 -b-> 2
#include "collectives/two_trees.hpp"
#include "collectives/algorithm.hpp"

namespace tutti::collectives::bcast {

plan::Plan two_trees(const Shape& shape) {
  Writer b(shape);
  const auto rank = [&](Rank node) { return rank_at(node, shape.root, shape.size); };
  const Rank here = position(shape.rank, shape.root, shape.size);
  const std::array<Family, 2> trees = collectives::two_trees(here, shape.size - 1);
  for (const auto& [tree, segment] : half_segments(whole(shape), segment_of(shape))) {
    const Family& family = trees[tree];
    Handle received;
    if (here != 0) received = b.recv(rank(family.parent), segment);
    for (const Rank child : family.children) b.send(rank(child), segment).after(received);
  }
  return b.build();
}

}  // namespace tutti::collectives::bcast
