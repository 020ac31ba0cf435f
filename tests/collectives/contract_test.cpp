// SPDX-License-Identifier: BSD-3-Clause
// The specifications, checked by hand on small cases, and the shapes that belong to them.
#include <gtest/gtest.h>

#include "collectives/collective.hpp"

namespace tutti::collectives {
namespace {

using plan::Buffer;
using plan::Contract;
using plan::Piece;
using plan::Value;

void expect_piece(const Piece& piece, Buffer buffer, Count offset, Count count, const Value& value) {
  EXPECT_EQ(piece.buffer, buffer);
  EXPECT_EQ(piece.offset, offset);
  EXPECT_EQ(piece.count, count);
  EXPECT_EQ(piece.value, value);
}

TEST(Contract, BarrierPromisesNoData) {
  const Contract contract = get(Kind::barrier).contract({.kind = Kind::barrier, .size = 3});
  ASSERT_EQ(contract.ranks.size(), 3u);
  EXPECT_TRUE(contract.ranks[1].before.empty());
  EXPECT_TRUE(contract.ranks[1].after.empty());
}

TEST(Contract, BcastBringsTheRootsDataToAll) {
  const Contract contract = get(Kind::bcast).contract({.kind = Kind::bcast, .size = 3, .root = 2, .count = 5});
  EXPECT_TRUE(contract.ranks[0].before.empty());
  expect_piece(contract.ranks[2].before.at(0), Buffer::output, 0, 5, {{2, 0}});
  for (const plan::Promise& promise : contract.ranks) {
    EXPECT_EQ(promise.input, 0);
    EXPECT_EQ(promise.output, 5);
    expect_piece(promise.after.at(0), Buffer::output, 0, 5, {{2, 0}});
  }
}

TEST(Contract, ReduceCombinesInTheOrderOfRanks) {
  const Problem problem{.kind = Kind::reduce, .size = 3, .root = 1, .count = 4, .in_place = true, .commutative = false};
  const Contract contract = get(Kind::reduce).contract(problem);
  EXPECT_FALSE(contract.commutative);
  expect_piece(contract.ranks[0].before.at(0), Buffer::input, 0, 4, {{0, 0}});
  EXPECT_EQ(contract.ranks[0].output, 0);
  EXPECT_TRUE(contract.ranks[0].after.empty());
  EXPECT_EQ(contract.ranks[1].input, 0);
  expect_piece(contract.ranks[1].before.at(0), Buffer::output, 0, 4, {{1, 0}});
  expect_piece(contract.ranks[1].after.at(0), Buffer::output, 0, 4, {{0, 0}, {1, 0}, {2, 0}});
}

TEST(Contract, AllreduceOfNothingPromisesNothing) {
  const Contract contract = get(Kind::allreduce).contract({.kind = Kind::allreduce, .size = 2});
  EXPECT_TRUE(contract.ranks[0].before.empty());
  EXPECT_TRUE(contract.ranks[0].after.empty());
}

TEST(Contract, GathervLeavesGapsAndEmptyBlocksOut) {
  const Problem problem{.kind = Kind::gatherv, .size = 3, .root = 0, .counts = {2, 0, 3}, .gap = 1};
  const Contract contract = get(Kind::gatherv).contract(problem);
  EXPECT_TRUE(contract.ranks[1].before.empty());
  const plan::Promise& root = contract.ranks[0];
  EXPECT_EQ(root.output, 9);  // gap 2 gap 0 gap 3 gap
  ASSERT_EQ(root.after.size(), 2u);
  expect_piece(root.after[0], Buffer::output, 1, 2, {{0, 0}});
  expect_piece(root.after[1], Buffer::output, 5, 3, {{2, 0}});

  const Shapes shapes(problem);
  EXPECT_EQ(shapes[0].recv_offsets[2], 5);
  EXPECT_EQ(shapes[0].recv_counts[2], 3);
  EXPECT_EQ(shapes[2].send_counts[0], 3);
  EXPECT_TRUE(shapes[2].recv_counts.empty());
}

TEST(Contract, ScatterInPlaceLeavesTheRootsBlockInItsInput) {
  const Problem problem{.kind = Kind::scatter, .size = 3, .root = 1, .count = 2, .in_place = true};
  const Contract contract = get(Kind::scatter).contract(problem);
  EXPECT_EQ(contract.ranks[1].input, 6);
  EXPECT_EQ(contract.ranks[1].output, 0);
  EXPECT_TRUE(contract.ranks[1].after.empty());
  expect_piece(contract.ranks[2].after.at(0), Buffer::output, 0, 2, {{1, 4}});
  const Shapes shapes(problem);
  EXPECT_TRUE(shapes[1].in_place);
  EXPECT_FALSE(shapes[2].in_place);
}

TEST(Contract, AllgathervInPlaceStartsFromTheOwnBlock) {
  const Problem problem{.kind = Kind::allgatherv, .size = 2, .in_place = true, .counts = {1, 4}, .gap = 2};
  const Contract contract = get(Kind::allgatherv).contract(problem);
  expect_piece(contract.ranks[1].before.at(0), Buffer::output, 5, 4, {{1, 0}});
  expect_piece(contract.ranks[0].after.at(1), Buffer::output, 5, 4, {{1, 0}});
  const Shapes shapes(problem);
  EXPECT_EQ(shapes[0].send_counts[0], 1);
  EXPECT_EQ(shapes[0].recv_counts[1], 4);
}

TEST(Contract, ReduceScatterHasBlocksSideBySide) {
  const Problem problem{
      .kind = Kind::reduce_scatter, .size = 3, .in_place = true, .commutative = false, .counts = {2, 0, 3}, .gap = 1};
  const Contract contract = get(Kind::reduce_scatter).contract(problem);
  expect_piece(contract.ranks[2].before.at(0), Buffer::output, 0, 5, {{2, 0}});
  expect_piece(contract.ranks[2].after.at(0), Buffer::output, 0, 3, {{0, 2}, {1, 2}, {2, 2}});
  EXPECT_TRUE(contract.ranks[1].after.empty());
  EXPECT_EQ(contract.ranks[1].output, 5) << "in place: all operands";
  const Shapes shapes(problem);
  EXPECT_EQ(shapes[1].recv_counts[2], 3);
  EXPECT_EQ(shapes[1].recv_offsets[2], 2);
  EXPECT_TRUE(shapes[1].send_counts.empty());
}

TEST(Contract, ReduceScatterBlockCombinesTheOwnBlock) {
  const Contract contract =
      get(Kind::reduce_scatter_block).contract({.kind = Kind::reduce_scatter_block, .size = 2, .count = 4});
  EXPECT_EQ(contract.ranks[1].input, 8);
  EXPECT_EQ(contract.ranks[1].output, 4);
  expect_piece(contract.ranks[1].after.at(0), Buffer::output, 0, 4, {{0, 4}, {1, 4}});
}

TEST(Contract, ScanHasTheOwnDataAndExscanHasNot) {
  const Contract scan = get(Kind::scan).contract({.kind = Kind::scan, .size = 3, .count = 4});
  expect_piece(scan.ranks[0].after.at(0), Buffer::output, 0, 4, {{0, 0}});
  expect_piece(scan.ranks[2].after.at(0), Buffer::output, 0, 4, {{0, 0}, {1, 0}, {2, 0}});
  const Contract exscan = get(Kind::exscan).contract({.kind = Kind::exscan, .size = 3, .count = 4});
  EXPECT_TRUE(exscan.ranks[0].after.empty());
  EXPECT_EQ(exscan.ranks[0].output, 4);
  expect_piece(exscan.ranks[2].after.at(0), Buffer::output, 0, 4, {{0, 0}, {1, 0}});
}

TEST(Contract, AlltoallvTransposesTheMatrix) {
  const Problem problem{.kind = Kind::alltoallv, .size = 2, .counts = {1, 2, 3, 0}, .gap = 1};
  const Contract contract = get(Kind::alltoallv).contract(problem);
  // Rank 0 sends 1 and 2 elements, rank 1 sends 3 and none.
  EXPECT_EQ(contract.ranks[0].input, 6);
  EXPECT_EQ(contract.ranks[0].output, 7);
  ASSERT_EQ(contract.ranks[0].after.size(), 2u);
  expect_piece(contract.ranks[0].after[0], Buffer::output, 1, 1, {{0, 1}});
  expect_piece(contract.ranks[0].after[1], Buffer::output, 3, 3, {{1, 1}});
  ASSERT_EQ(contract.ranks[1].after.size(), 1u);
  expect_piece(contract.ranks[1].after[0], Buffer::output, 1, 2, {{0, 3}});

  const Shapes shapes(problem);
  EXPECT_EQ(shapes[1].send_counts[0], 3);
  EXPECT_EQ(shapes[1].recv_counts[0], 2);
}

TEST(Contract, AlltoallvInPlaceNeedsSymmetricCounts) {
  const Problem problem{.kind = Kind::alltoallv, .size = 2, .in_place = true, .counts = {1, 2, 9, 3}};
  const Contract contract = get(Kind::alltoallv).contract(problem);
  expect_piece(contract.ranks[1].before.at(0), Buffer::output, 0, 2, {{1, 0}});
  expect_piece(contract.ranks[1].after.at(0), Buffer::output, 0, 2, {{0, 1}});
  EXPECT_EQ(contract.ranks[1].input, 0);
}

}  // namespace
}  // namespace tutti::collectives
