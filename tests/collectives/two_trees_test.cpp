// SPDX-License-Identifier: BSD-3-Clause
// Both trees span all nodes, are shallow, and nobody works in both.
#include "collectives/two_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace tutti::collectives {
namespace {

int depth(Rank node, Rank nodes, std::size_t tree) {
  int depth = 0;
  for (Rank up = two_trees(node, nodes)[tree].parent; up != 0 && depth <= nodes; ++depth)
    up = two_trees(up, nodes)[tree].parent;
  return depth;
}

TEST(TwoTrees, SpanAllNodes) {
  for (Rank nodes = 0; nodes <= 70; ++nodes)
    for (const std::size_t tree : {0u, 1u}) {
      std::vector<Rank> parents(static_cast<std::size_t>(nodes) + 1, -1);
      for (Rank node = 0; node <= nodes; ++node) {
        const Family family = two_trees(node, nodes)[tree];
        for (const Rank child : family.children) {
          ASSERT_TRUE(child >= 1 && child <= nodes);
          EXPECT_EQ(parents[static_cast<std::size_t>(child)], -1) << child << " has two parents";
          parents[static_cast<std::size_t>(child)] = node;
          EXPECT_EQ(two_trees(child, nodes)[tree].parent, node);
        }
      }
      EXPECT_EQ(std::ranges::count(parents, -1), 1) << "only 0 has no parent";
      EXPECT_EQ(std::ranges::count(parents, 0), nodes > 0) << "one top";
      for (Rank node = 1; node <= nodes; ++node)
        EXPECT_LT(depth(node, nodes, tree), std::bit_width(static_cast<unsigned>(nodes))) << node << " of " << nodes;
    }
}

TEST(TwoTrees, LetNobodyWorkInBoth) {
  for (Rank nodes = 1; nodes <= 70; ++nodes)
    for (Rank node = 1; node <= nodes; ++node) {
      const auto trees = two_trees(node, nodes);
      EXPECT_TRUE(trees[0].children.empty() || trees[1].children.empty()) << node << " of " << nodes;
      EXPECT_LE(trees[0].children.size() + trees[1].children.size(), 2u);
    }
}

}  // namespace
}  // namespace tutti::collectives
