// SPDX-License-Identifier: BSD-3-Clause
// Trees span every rank once; cuts cover every element once.
#include "collectives/tree.hpp"

#include <gtest/gtest.h>

#include "collectives/blocks.hpp"

namespace tutti::collectives {
namespace {

/// Every rank but the root is the child of the one it names as parent, and the children of a rank tile its subtree.
void expect_tree(Rank root, Rank size, const std::vector<Tree>& trees) {
  for (Rank rank = 0; rank < size; ++rank) {
    const Tree& tree = trees[static_cast<std::size_t>(rank)];
    EXPECT_EQ(tree.here.rank, rank);
    EXPECT_EQ(tree.top(), rank == root);
    Rank end = tree.here.end;  // children come farthest first
    for (const Branch& child : tree.children) {
      EXPECT_EQ(child.end, end);
      EXPECT_EQ(child.rank, rank_at(child.begin, root, size));
      EXPECT_EQ(trees[static_cast<std::size_t>(child.rank)].parent, rank);
      EXPECT_EQ(trees[static_cast<std::size_t>(child.rank)].here.end, child.end);
      end = child.begin;
    }
    EXPECT_EQ(end, tree.here.begin + 1);
  }
}

TEST(Tree, SpansEveryRankOnce) {
  for (Rank size = 1; size <= 40; ++size)
    for (Rank root = 0; root < size; ++root) {
      for (const int radix : {0, 2, 3, 5, 64}) {
        std::vector<Tree> trees;
        for (Rank rank = 0; rank < size; ++rank) trees.push_back(binomial_tree(rank, root, size, radix));
        expect_tree(root, size, trees);
      }
      for (const auto kind : {chain, binary_tree}) {
        std::vector<Tree> trees;
        for (Rank rank = 0; rank < size; ++rank) trees.push_back(kind(rank, root, size));
        expect_tree(root, size, trees);
      }
    }
}

TEST(Tree, BinomialSendsFarthestFirst) {
  const Tree tree = binomial_tree(0, 0, 16);
  ASSERT_EQ(tree.children.size(), 4u);
  EXPECT_EQ(tree.children[0].rank, 8);
  EXPECT_EQ(tree.children[1].rank, 4);
  EXPECT_EQ(tree.children[3].rank, 1);
  const Tree inner = binomial_tree(8, 0, 13);
  EXPECT_EQ(inner.parent, 0);
  ASSERT_EQ(inner.children.size(), 3u);
  EXPECT_EQ(inner.children[0].rank, 12);
  EXPECT_EQ(inner.children[0].size(), 1);
}

TEST(Tree, BinaryHalvesWhatIsBehindTheTop) {
  const Tree tree = binary_tree(2, 2, 6);
  ASSERT_EQ(tree.children.size(), 2u);
  EXPECT_EQ(tree.children[0].begin, 4);
  EXPECT_EQ(tree.children[1].begin, 1);
  EXPECT_EQ(tree.children[1].size(), 3);
  EXPECT_EQ(binary_tree(3, 2, 6).children.size(), 2u);
  EXPECT_EQ(binary_tree(0, 0, 2).children.size(), 1u);
}

TEST(Tree, LargeRadixIsAStar) { EXPECT_EQ(binomial_tree(3, 3, 9, 9).children.size(), 8u); }

TEST(Tree, PositionsGoAroundTheRoot) {
  for (Rank rank = 0; rank < 7; ++rank) EXPECT_EQ(rank_at(position(rank, 5, 7), 5, 7), rank);
  EXPECT_EQ(position(5, 5, 7), 0);
  EXPECT_EQ(position(4, 5, 7), 6);
}

TEST(Spread, GoesAroundTheEndOfTheGroup) {
  const Slice output = Writer::output(0, 7 * 3);
  const Spread within = spread(output, {4, 2, 4}, 7);
  EXPECT_EQ(within.ahead, Writer::output(12, 6));
  EXPECT_EQ(within.around.count, 0);
  const Spread beyond = spread(output, {5, 3, 7}, 7);
  EXPECT_EQ(beyond.ahead, Writer::output(15, 6));
  EXPECT_EQ(beyond.around, Writer::output(0, 6));
}

TEST(Blocks, CoverEveryElementOnce) {
  for (const Count count : {0, 1, 4, 5, 6, 1000})
    for (Rank parts = 1; parts <= 17; ++parts) {
      const Slice data = Writer::output(7, count);
      ASSERT_EQ(cut(data, parts).size(), static_cast<std::size_t>(parts));
      Count end = 7;
      for (const Slice& piece : cut(data, parts)) {
        EXPECT_EQ(piece.offset, end);
        EXPECT_LE(piece.count, count / parts + 1);
        EXPECT_GE(piece.count, count / parts);
        end += piece.count;
      }
      EXPECT_EQ(end, 7 + count);
    }
}

TEST(Segments, CoverEveryElementOnce) {
  const std::vector<Slice> pieces = segments(Writer::input(2, 10), 4);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1], Writer::input(6, 4));
  EXPECT_EQ(pieces[2], Writer::input(10, 2));
  EXPECT_TRUE(segments(Writer::input(2, 0), 4).empty());
}

TEST(Segments, AreTheCallersOrFew) {
  EXPECT_EQ(segment_of({.count = 1000, .parameters = {.segment = 3}}), 3);
  EXPECT_EQ(segment_of({.count = 1000}), 8192);
  for (const Count count : {Count{1} << 20, Count{1} << 21, (Count{1} << 40) + 1})
    EXPECT_LE(segments(whole({.count = count}), segment_of({.count = count})).size(), 128u);
}

}  // namespace
}  // namespace tutti::collectives
