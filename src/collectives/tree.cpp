// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/tree.hpp"

#include <algorithm>

namespace tutti::collectives {

Spread spread(plan::Slice whole, const Branch& branch, Rank size) {
  const Count block = whole.count / size;
  const Rank ahead = std::min(branch.size(), size - branch.rank);
  return {whole.part(branch.rank * block, ahead * block), whole.part(0, (branch.size() - ahead) * block)};
}

Tree binomial_tree(Rank rank, Rank root, Rank size, int radix) {
  const Count base = std::max(radix, 2);
  const Count here = position(rank, root, size);
  const auto branch = [&](Count begin, Count span) {
    const auto first = static_cast<Rank>(begin);
    return Branch{rank_at(first, root, size), first, static_cast<Rank>(std::min<Count>(begin + span, size))};
  };
  Count span = 1;  // the weight of this position's lowest digit other than 0; all positions at the top
  while (span < size && here % (span * base) == 0) span *= base;

  Tree tree{root, -1, branch(here, span), {}};
  if (here != 0) tree.parent = rank_at(static_cast<Rank>(here - here % (span * base)), root, size);
  for (Count weight = 1; weight < span; weight *= base)
    for (Count child = here + weight; child < std::min<Count>(here + weight * base, size); child += weight)
      tree.children.push_back(branch(child, weight));
  std::ranges::reverse(tree.children);
  return tree;
}

Tree binary_tree(Rank rank, Rank root, Rank size) {
  const Rank here = position(rank, root, size);
  const auto branch = [&](Rank begin, Rank end) { return Branch{rank_at(begin, root, size), begin, end}; };
  const auto middle = [](Rank begin, Rank end) {
    return begin + 1 + (end - begin) / 2;
  };  // where its second half begins
  Tree tree{root, -1, branch(0, size), {}};
  while (tree.here.begin != here) {
    const Branch above = tree.here;
    const Rank second = middle(above.begin, above.end);
    tree.parent = above.rank;
    tree.here = here < second ? branch(above.begin + 1, second) : branch(second, above.end);
  }
  const Rank second = middle(here, tree.here.end);
  if (second < tree.here.end) tree.children.push_back(branch(second, tree.here.end));
  if (tree.here.size() > 1) tree.children.push_back(branch(here + 1, std::min(second, tree.here.end)));
  return tree;
}

Tree chain(Rank rank, Rank root, Rank size) {
  const Rank here = position(rank, root, size);
  Tree tree{root, -1, {rank, here, size}, {}};
  if (here != 0) tree.parent = rank_at(here - 1, root, size);
  if (here + 1 < size) tree.children.push_back({rank_at(here + 1, root, size), here + 1, size});
  return tree;
}

}  // namespace tutti::collectives
