// SPDX-License-Identifier: BSD-3-Clause
// Two trees: one half of the data up each of two binary trees over all ranks but the root, segment by segment. Who
// combines one half is a leaf for the other, so that everybody receives no more than it sends. The trees do not keep
// the order of the ranks, so the operation must commute. Bandwidth, in few stages: for many ranks. Sanders, Speck,
// Träff 2009, doi 10.1016/j.parco.2009.09.001. Cost with segments of m: (2 log2 P + n/m) (alpha + beta m + gamma m).
//
//     P = 7, root 0, halves a b:   1, 3 -a-> 2    5 -a-> 6    2, 6 -a-> 4    4 -a-> 0
//                                  2 -b-> 1    6, 4 -b-> 5    1, 5 -b-> 3    3 -b-> 0
#include "collectives/two_trees.hpp"
#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce {

plan::Plan two_trees(const Shape& shape) {
  Writer b(shape);
  const auto rank = [&](Rank node) { return rank_at(node, shape.root, shape.size); };
  const Rank here = position(shape.rank, shape.root, shape.size);
  const std::array<Family, 2> trees = collectives::two_trees(here, shape.size - 1);
  for (const auto& [tree, result] : half_segments(whole(shape), segment_of(shape))) {
    const Family& family = trees[tree];
    const Slice mine = operand(shape, result);
    const Slice sum = here == 0 ? result : family.children.empty() ? mine : b.scratch(result.count);
    Handle ready = b.copy(mine, sum);
    for (const Rank child : family.children) ready = b.recv_reduce(rank(child), sum, Side::left).after(ready);
    if (here != 0) b.send(rank(family.parent), sum).after(ready);
  }
  return b.build();
}

}  // namespace tutti::collectives::reduce
