// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/two_trees.hpp"

#include <bit>

#include "collectives/blocks.hpp"

namespace tutti::collectives {
namespace {

/// A node's height is the number of zeros at the end of its number; the right one of a node's children is lower where
/// there are not so many nodes.
Family in_order(Rank node, Rank nodes) {
  if (node == 0 && nodes == 0) return {};
  if (node == 0) return {0, {static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(nodes)))}};
  const Rank bit = node & -node;
  const Rank below = node ^ bit, above = below | 2 * bit;
  Family family{above <= nodes ? above : below, {}};
  if (bit == 1) return family;
  family.children.push_back(node - bit / 2);
  Rank step = bit / 2;
  while (step > 0 && node + step > nodes) step /= 2;
  if (step > 0) family.children.push_back(node + step);
  return family;
}

/// The relatives of a node in that tree, whose number was `old` before every node got a new one.
template <class Number>
Family renumbered(Rank old, Rank nodes, Number number) {
  Family family = in_order(old, nodes);
  if (family.parent != 0) family.parent = number(family.parent);
  for (Rank& child : family.children) child = number(child);
  return family;
}

Family second(Rank node, Rank nodes) {
  if (nodes % 2 == 0) {
    const auto mirror = [nodes](Rank one) { return nodes + 1 - one; };
    return renumbered(node == 0 ? 0 : mirror(node), nodes, mirror);
  }
  const Rank before = node > 1 ? node - 1 : nodes;
  return renumbered(node == 0 ? 0 : before, nodes, [nodes](Rank one) { return one < nodes ? one + 1 : 1; });
}

}  // namespace

std::array<Family, 2> two_trees(Rank node, Rank nodes) { return {in_order(node, nodes), second(node, nodes)}; }

std::vector<HalfSegment> half_segments(plan::Slice data, Count segment) {
  const std::vector<plan::Slice> first = segments(blocks(data, 0, 1, 2), segment);
  const std::vector<plan::Slice> second = segments(blocks(data, 1, 2, 2), segment);
  std::vector<HalfSegment> both;
  for (std::size_t i = 0; i < first.size(); ++i) {  // the first half is as long as the second, or longer
    both.push_back({0, first[i]});
    if (i < second.size()) both.push_back({1, second[i]});
  }
  return both;
}

}  // namespace tutti::collectives
