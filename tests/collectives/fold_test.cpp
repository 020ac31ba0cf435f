// SPDX-License-Identifier: BSD-3-Clause
// The team of an allreduce keeps the order of the ranks.
#include "collectives/allreduce/fold.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace tutti::collectives::allreduce {
namespace {

TEST(Team, IsAPowerOfTwoInTheOrderOfRanks) {
  for (Rank size = 1; size <= 70; ++size) {
    Rank next = 0;
    for (Rank rank = 0; rank < size; ++rank) {
      const Team team(Shape{.rank = rank, .size = size});
      EXPECT_EQ(team.size(), static_cast<Rank>(std::bit_floor(static_cast<unsigned>(size))));
      if (team.sits_out()) continue;
      EXPECT_EQ(team.position(), next++);
      EXPECT_EQ(team.rank(team.position()), rank);
    }
    EXPECT_EQ(next, static_cast<Rank>(std::bit_floor(static_cast<unsigned>(size))));
  }
}

TEST(Team, SixRanksAreTwoPairsAndTwoMore) {
  const Team team(Shape{.rank = 5, .size = 6});
  EXPECT_EQ(team.position(), 3);
  EXPECT_EQ(team.rank(0), 1);
  EXPECT_EQ(team.rank(1), 3);
  EXPECT_EQ(team.rank(2), 4);
  EXPECT_TRUE(Team(Shape{.rank = 2, .size = 6}).sits_out());
}

}  // namespace
}  // namespace tutti::collectives::allreduce
