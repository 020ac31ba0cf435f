// SPDX-License-Identifier: BSD-3-Clause
// Who meets whom in the pairwise alltoall, and how many rounds are under way. That its results are right, the sweep
// proves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "problems.hpp"

namespace tutti::collectives {
namespace {

using plan::Verb;

std::vector<plan::Plan> tournament(Rank size, int radix, bool in_place) {
  Problem problem = problem_of(Kind::alltoall, size, 0, 3, in_place, true);
  problem.parameters = {.radix = radix};
  return build(*find(Kind::alltoall, "pairwise"), problem);
}

std::vector<plan::Index> swaps_of(const plan::Plan& plan) {
  std::vector<plan::Index> found;
  for (plan::Index i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].verb == Verb::send) found.push_back(i);
  return found;
}

TEST(Pairwise, IsATournament) {
  for (const bool in_place : {false, true})
    for (Rank size = 1; size <= 17; ++size) {
      const std::vector<plan::Plan> plans = tournament(size, 0, in_place);
      const auto opponent = [&](Rank rank, std::size_t round) {
        const plan::Plan& plan = plans[static_cast<std::size_t>(rank)];
        return plan.steps[swaps_of(plan)[round]].peer;
      };
      for (Rank rank = 0; rank < size; ++rank) {
        const std::size_t rounds = swaps_of(plans[static_cast<std::size_t>(rank)]).size();
        ASSERT_EQ(rounds, static_cast<std::size_t>(size - 1));
        std::set<Rank> met{rank};
        for (std::size_t round = 0; round < rounds; ++round) {
          const Rank other = opponent(rank, round);
          EXPECT_TRUE(met.insert(other).second) << rank << " meets " << other << " again, P=" << size;
          // Without pauses both are in the same round.
          if (size % 2 == 0) {
            EXPECT_EQ(opponent(other, round), rank) << "round " << round << ", P=" << size;
          }
        }
      }
    }
}

TEST(Pairwise, BeginsARoundWhenAnEarlierOneHasEnded) {
  constexpr Rank size = 8;
  for (const int radix : {1, 2, 3})
    for (const plan::Plan& plan : tournament(size, radix, false)) {
      const std::vector<plan::Index> swaps = swaps_of(plan);
      for (std::size_t round = 0; round < swaps.size(); ++round) {
        const auto before = plan.after(plan.steps[swaps[round]]);
        if (round < static_cast<std::size_t>(radix)) {
          EXPECT_TRUE(before.empty()) << "round " << round << " of radix " << radix;
          continue;
        }
        const plan::Index earlier = swaps[round - static_cast<std::size_t>(radix)];
        EXPECT_NE(std::ranges::find(before, earlier), before.end()) << "round " << round << " of radix " << radix;
      }
    }
}

}  // namespace
}  // namespace tutti::collectives
