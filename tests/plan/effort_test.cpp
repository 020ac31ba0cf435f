// SPDX-License-Identifier: BSD-3-Clause
// What checks cost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "plan/builder.hpp"
#include "plan/checker.hpp"
#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

/// What a check adds to the peak of memory, in KiB. The order of a rank's steps is a bit for each pair of them: 2 MiB
/// here.
long growth(bool with_cells) {
  constexpr Rank size = 16;
  constexpr int steps = 4096;
  const auto peak = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  std::vector<Plan> all;
  for (Rank rank = 0; rank < size; ++rank) {
    Builder plan(rank, size);
    Handle last = plan.copy(Builder::input(0, 1), Builder::output(0, 1));
    for (int step = 1; step < steps; ++step) last = plan.copy(Builder::input(0, 1), Builder::output(0, 1)).after(last);
    if (with_cells) {
      plan.use(Ring::small, 1);
      plan.publish(0, Builder::shared(rank, 0, 0, 0));
      plan.await((rank + 1) % size, 0, 0);
    }
    all.push_back(plan.build());
  }
  Contract own;
  for (Rank rank = 0; rank < size; ++rank)
    own.ranks.push_back({1, 1, {{Buffer::input, 0, 1, {{rank, 0}}}}, {{Buffer::output, 0, 1, {{rank, 0}}}}});
  const auto before = peak();
  const Verdict verdict = check(all, own, {.cell = {1, 0, 1}});
  EXPECT_TRUE(verdict.ok) << verdict.text;
  return peak() - before;
}

TEST(Checker, KeepsTheOrderOfOneRankAtATime) {
  EXPECT_LT(growth(false), 20 * 1024);
  EXPECT_LT(growth(true), 20 * 1024) << "nobody exposes memory";
}

TEST(Checker, RefusesWhatWouldFillTheMemory) {
  Builder plan(0, 1);
  Handle last = plan.copy(Builder::input(0, 1), Builder::output(0, 1));
  for (int step = 1; step < 70'000; ++step) last = plan.copy(Builder::input(0, 1), Builder::output(0, 1)).after(last);
  const Verdict verdict = check_user(std::vector{plan.build()}, {});
  EXPECT_FALSE(verdict.ok);
  EXPECT_NE(verdict.text.find("check a smaller case"), verdict.text.npos) << verdict.text;
}

TEST(Builder, RefusesRoundsThatWouldFillTheMemory) {
  constexpr int steps = 10'000;
  const auto build = [](bool joined) {
    Builder plan(0, 1);
    for (int round = 0; round < 2; ++round) {
      for (int step = 0; step < steps; ++step) plan.copy(Builder::input(0, 1), Builder::output(step, 1));
      plan.round();
      if (joined) plan.copy(Builder::input(0, 0), Builder::output(0, 0));
      plan.round();
    }
    return plan.build().edges.size();
  };
  EXPECT_EQ(build(true), 3 * steps);
  try {
    build(false);
    ADD_FAILURE() << "it was built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a round of one step"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tutti::plan
