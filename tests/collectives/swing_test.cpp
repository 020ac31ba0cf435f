// SPDX-License-Identifier: BSD-3-Clause
// The pairs of swing and of Bine trees: nobody meets anybody twice, and their ways are shorter than those of powers of
// two. That their results are right, the sweep proves.
#include "collectives/swing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "problems.hpp"

namespace tutti::collectives {
namespace {

TEST(Swing, MeetsEverybodyOnce) {
  for (const Rank positions : {1, 2, 4, 8, 16, 64})
    for (Rank position = 0; position < positions; ++position) {
      std::set<Rank> met{position};
      for (int round = 0; Rank{1} << round < positions; ++round) {
        const Rank other = swing(position, round, positions);
        EXPECT_EQ(swing(other, round, positions), position);
        EXPECT_NE(is_first(other, round, positions), is_first(position, round, positions));
        EXPECT_TRUE(met.insert(other).second) << position << " meets " << other << " again";
        for (int before = 0; before < round; ++before)
          EXPECT_EQ(is_first(other, before, positions), is_first(position, before, positions));
      }
    }
}

TEST(Swing, MeetsAsTheHeaderShows) {
  const std::vector<std::vector<Rank>> shown{
      {1, 0, 3, 2, 5, 4, 7, 6}, {7, 2, 1, 4, 3, 6, 5, 0}, {3, 6, 5, 0, 7, 2, 1, 4}};
  for (std::size_t round = 0; round < shown.size(); ++round)
    for (Rank position = 0; position < 8; ++position)
      EXPECT_EQ(swing(position, static_cast<int>(round), 8), shown[round][static_cast<std::size_t>(position)]);
}

/// Elements times hops around a ring of all ranks.
Count ways(Kind kind, std::string_view name, Rank size) {
  Count sum = 0;
  const std::vector<plan::Plan> plans = build(*find(kind, name), problem_of(kind, size, 0, 1 << 10, false, true));
  for (Rank rank = 0; rank < size; ++rank)
    for (const plan::Step& step : plans[static_cast<std::size_t>(rank)].steps) {
      if (step.verb != plan::Verb::send) continue;
      const Rank apart = std::abs(step.peer - rank);
      sum += step.source.count * std::min(apart, size - apart);
    }
  return sum;
}

TEST(Swing, KeepsMessagesNearerThanPowersOfTwo) {
  for (const Rank size : {8, 16, 64}) {
    EXPECT_LT(ways(Kind::allreduce, "swing", size),
              0.76 * static_cast<double>(ways(Kind::allreduce, "rabenseifner", size)));
    EXPECT_LT(ways(Kind::bcast, "bine", size), 0.76 * static_cast<double>(ways(Kind::bcast, "binomial", size)));
    EXPECT_EQ(ways(Kind::reduce, "bine", size), ways(Kind::bcast, "bine", size));
  }
}

}  // namespace
}  // namespace tutti::collectives
