// SPDX-License-Identifier: BSD-3-Clause
// What checks cost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "plan/builder.hpp"
#include "plan/checker.hpp"

namespace tutti::plan {
namespace {

/// The order of a rank's steps is a bit for each pair of them: 2 MiB here, of one rank at a time.
TEST(Checker, KeepsTheOrderOfOneRankAtATime) {
  constexpr Rank size = 16;
  constexpr int steps = 4096;
  const auto peak = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;  // in KiB
  };
  std::vector<Plan> all;
  for (Rank rank = 0; rank < size; ++rank) {
    Builder plan(rank, size);
    Handle last = plan.copy(Builder::input(0, 1), Builder::output(0, 1));
    for (int step = 1; step < steps; ++step) last = plan.copy(Builder::input(0, 1), Builder::output(0, 1)).after(last);
    all.push_back(plan.build());
  }
  Contract own;
  for (Rank rank = 0; rank < size; ++rank)
    own.ranks.push_back({1, 1, {{Buffer::input, 0, 1, {{rank, 0}}}}, {{Buffer::output, 0, 1, {{rank, 0}}}}});
  const auto before = peak();
  const Verdict verdict = check(all, own, {});
  EXPECT_TRUE(verdict.ok) << verdict.text;
  EXPECT_LT(peak() - before, 20 * 1024);
}

}  // namespace
}  // namespace tutti::plan
