// SPDX-License-Identifier: BSD-3-Clause
// Two trees: one half of the data up each of two binary trees and down again, segment by segment. Who combines one half
// is a leaf for the other, so that nobody sends or receives more than about twice the data, in few stages. The second
// tree does not keep the order of the ranks, so the operation must commute. Bandwidth: for many ranks. Sanders, Speck,
// Träff 2009, doi 10.1016/j.parco.2009.09.001. Cost with segments of m: (4 log2 P + 2 n/m) (alpha + beta m) + gamma n.
//
//     P = 6, halves a b:   0, 2 -a-> 1    4 -a-> 5    1, 5 -a-> 3    and back
//                          1 -b-> 0    5, 3 -b-> 4    0, 4 -b-> 2    and back
#include "collectives/two_trees.hpp"
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {

plan::Plan two_trees(const Shape& shape) {
  Writer b(shape);
  const std::array<Family, 2> trees = collectives::two_trees(shape.rank + 1, shape.size);
  for (const auto& [tree, result] : half_segments(whole(shape), segment_of(shape))) {
    const Family& family = trees[tree];
    const bool leaf = family.children.empty(), top = family.parent == 0;
    const Slice mine = operand(shape, result), sum = leaf && !top ? mine : result;
    Handle ready = b.copy(mine, sum);
    for (const Rank child : family.children) ready = b.recv_reduce(child - 1, sum, Side::left).after(ready);
    if (!top) {
      const Handle sent = b.send(family.parent - 1, sum).after(ready);
      ready = b.recv(family.parent - 1, result).after(sum == result ? sent : Handle());
    }
    for (const Rank child : family.children) b.send(child - 1, result).after(ready);
  }
  return b.build();
}

}  // namespace tutti::collectives::allreduce
