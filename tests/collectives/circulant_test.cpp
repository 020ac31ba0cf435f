// SPDX-License-Identifier: BSD-3-Clause
// The rounds are as few as can be, both ends of each edge agree, everybody receives every block once, and sends what it
// has received before.
#include "collectives/circulant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

namespace tutti::collectives {
namespace {

using Rounds = std::vector<std::vector<Round>>;  // of each position

void expect_agreement(const Rounds& rounds, Rank position, std::size_t round) {
  const auto at = [&](Rank other) { return rounds[static_cast<std::size_t>(other)][round]; };
  const Round here = at(position);
  EXPECT_EQ(at(here.ahead).behind, position);
  EXPECT_EQ(at(here.ahead).received, here.sent);
  EXPECT_EQ(at(here.behind).ahead, position);
  EXPECT_EQ(at(here.behind).sent, here.received);
}

void expect_all_blocks(const std::vector<Round>& rounds, bool root, Count blocks) {
  std::vector<bool> have(static_cast<std::size_t>(blocks), root);
  for (const Round& round : rounds) {
    ASSERT_LT(std::max(round.sent, round.received), blocks);
    if (round.sent >= 0) {
      EXPECT_TRUE(have[static_cast<std::size_t>(round.sent)]) << "sent before it was there";
    }
    if (round.received < 0) continue;
    EXPECT_FALSE(have[static_cast<std::size_t>(round.received)]) << "received twice";
    have[static_cast<std::size_t>(round.received)] = true;
  }
  EXPECT_EQ(std::ranges::count(have, false), 0) << "never received";
}

void expect_broadcast(Rank size, Count blocks) {
  SCOPED_TRACE(std::to_string(blocks) + " blocks to " + std::to_string(size));
  Rounds rounds;
  for (Rank position = 0; position < size; ++position) rounds.push_back(circulant(position, size, blocks));
  const auto fewest = static_cast<std::size_t>(blocks - 1 + std::bit_width(static_cast<unsigned>(size - 1)));
  for (Rank position = 0; position < size; ++position) {
    SCOPED_TRACE(position);
    const std::vector<Round>& mine = rounds[static_cast<std::size_t>(position)];
    ASSERT_EQ(mine.size(), fewest);
    expect_all_blocks(mine, position == 0, blocks);
    for (std::size_t round = 0; round < fewest; ++round) expect_agreement(rounds, position, round);
  }
}

TEST(Circulant, BringsEveryBlockToEverybodyInTheFewestRounds) {
  for (Rank size = 2; size <= 150; ++size)
    for (const Count blocks : {1, 2, 3, 7, 8, 20}) expect_broadcast(size, blocks);
  for (const Rank size : {255, 256, 257, 1000, 2047, 4099}) expect_broadcast(size, 13);
}

TEST(Circulant, HasNoRoundsForNothing) {
  EXPECT_TRUE(circulant(0, 1, 5).empty());
  EXPECT_TRUE(circulant(3, 7, 0).empty());
}

}  // namespace
}  // namespace tutti::collectives
