// SPDX-License-Identifier: BSD-3-Clause
// The team of an allreduce keeps the order of the ranks, and leaves few out.
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

/// What is left of `size` when rounds of `radix` are taken out of it.
Rank last_factor(Rank size, Rank radix) {
  while (size % radix == 0) size /= radix;
  return size;
}

TEST(Team, IsAProductInTheOrderOfRanks) {
  for (const Rank radix : {2, 3, 4, 5, 8, 100})
    for (Rank size = 1; size <= 70; ++size) {
      Rank next = 0;
      for (Rank rank = 0; rank < size; ++rank) {
        const Team team(Shape{.rank = rank, .size = size}, radix);
        EXPECT_GT(2 * team.size(), size);
        EXPECT_LT(last_factor(team.size(), radix), radix);
        EXPECT_EQ(team.begin(team.size()), size);
        if (team.sits_out()) {
          const Team its(Shape{.rank = team.partner(), .size = size}, radix);
          EXPECT_EQ(its.partner(), rank);
          EXPECT_FALSE(its.sits_out());
          continue;
        }
        EXPECT_EQ(team.position(), next++);
        EXPECT_EQ(team.rank(team.position()), rank);
      }
      EXPECT_EQ(next, Team(Shape{.rank = 0, .size = size}, radix).size());
      if (size % radix == 0 && size / radix < radix) {
        EXPECT_EQ(next, size) << "radix " << radix;
      }
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
