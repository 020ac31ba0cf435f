// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/swing.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace tutti::collectives {
namespace {

/// 1, -1, 3, -5, 11 ...: 1 - 2 + 4 - 8 ...
Rank distance(int round) {
  Rank sum = 0, power = 1;
  for (int i = 0; i <= round; ++i, power *= -2) sum += power;
  return sum;
}

int rounds_of(Rank positions) { return std::countr_zero(static_cast<std::uint32_t>(positions)); }

/// The lowest of the positions that this one meets from a round on, and those in turn, and itself.
Rank lowest(Rank position, int round, Rank positions) {
  if (round == rounds_of(positions)) return position;
  return std::min(lowest(position, round + 1, positions),
                  lowest(swing(position, round, positions), round + 1, positions));
}

}  // namespace

Rank swing(Rank position, int round, Rank positions) {
  const Rank by = position % 2 == 0 ? distance(round) : -distance(round);
  return (position + by % positions + positions) % positions;
}

bool is_first(Rank position, int round, Rank positions) {
  return lowest(position, round + 1, positions) < lowest(swing(position, round, positions), round + 1, positions);
}

Tree bine_tree(Rank rank, Rank root, Rank size) {
  const auto team = static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(size)));
  const Rank extra = size - team, here = position(rank, root, size);
  const auto rank_of = [&](Rank member) { return rank_at(member + std::min(member, extra), root, size); };
  Tree tree;
  tree.root = root;
  tree.here.rank = rank;
  if (here < 2 * extra && here % 2 != 0) {
    tree.parent = rank_at(here - 1, root, size);
    return tree;
  }
  const Rank mine = here < 2 * extra ? here / 2 : here - extra;
  std::vector<bool> has(static_cast<std::size_t>(team), false);
  has[0] = true;
  for (int round = rounds_of(team) - 1; round >= 0; --round) {
    const std::vector<bool> before = has;
    for (Rank from = 0; from < team; ++from)
      if (before[static_cast<std::size_t>(from)]) has[static_cast<std::size_t>(swing(from, round, team))] = true;
    const Rank other = rank_of(swing(mine, round, team));
    if (before[static_cast<std::size_t>(mine)])
      tree.children.push_back(Branch{.rank = other});
    else if (has[static_cast<std::size_t>(mine)])
      tree.parent = other;
  }
  if (here < 2 * extra) tree.children.push_back({.rank = rank_at(here + 1, root, size)});
  return tree;
}

}  // namespace tutti::collectives
