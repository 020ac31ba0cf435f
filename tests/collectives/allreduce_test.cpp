// SPDX-License-Identifier: BSD-3-Clause
// What the parameters of allreduce's algorithms are there for: fewer rounds, shorter messages, the same bits
// everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plan/text.hpp"
#include "problems.hpp"

namespace tutti::collectives {
namespace {

using plan::Verb;

std::vector<plan::Plan> plans_of(std::string_view name, Rank size, Count count, Parameters parameters) {
  Problem problem = problem_of(Kind::allreduce, size, 0, count, false, true);
  problem.parameters = parameters;
  return build(*find(Kind::allreduce, name), problem);
}

std::vector<std::string> texts_of(std::string_view name, Rank size, Count count, Parameters parameters) {
  std::vector<std::string> texts;
  for (const plan::Plan& plan : plans_of(name, size, count, parameters)) texts.push_back(plan::print(plan));
  return texts;
}

Count sends(const plan::Plan& plan) { return std::ranges::count(plan.steps, Verb::send, &plan::Step::verb); }

/// The most messages one after the other on any path through all plans: a receive comes after its send, a send after
/// what it waits for.
int depth(const std::vector<plan::Plan>& plans) {
  std::vector<std::vector<int>> level;
  for (const plan::Plan& plan : plans) level.emplace_back(plan.steps.size(), 0);
  int deepest = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = 0; r < plans.size(); ++r)
      for (std::size_t i = 0; i < plans[r].steps.size(); ++i) {
        const plan::Step& step = plans[r].steps[i];
        int now = 0;
        for (const plan::Index before : plans[r].after(step)) now = std::max(now, level[r][before]);
        if (step.verb == Verb::recv || step.verb == Verb::recv_reduce) {
          const auto from = static_cast<std::size_t>(step.peer);
          for (std::size_t j = 0; j < plans[from].steps.size(); ++j) {
            const plan::Step& sent = plans[from].steps[j];
            if (sent.verb == Verb::send && sent.peer == static_cast<Rank>(r) && sent.message == step.message)
              now = std::max(now, level[from][j] + 1);
          }
        }
        changed = changed || now != level[r][i];
        level[r][i] = now;
        deepest = std::max(deepest, now);
      }
  }
  return deepest;
}

TEST(RecursiveMultiplying, TakesFewerRoundsOfMoreMessages) {
  struct Known {
    Rank size;
    int radix, rounds;
    Count messages;  // that the last rank sends
  };
  constexpr Known known[] = {{9, 3, 2, 4},  {8, 2, 3, 3}, {16, 4, 2, 6},        {8, 4, 2, 4},
                             {12, 4, 2, 5}, {5, 8, 1, 4}, {13, 3, 1 + 2 + 1, 4}};
  for (const auto& [size, radix, rounds, messages] : known) {
    const std::vector<plan::Plan> plans = plans_of("recursive_multiplying", size, 3, {.radix = radix});
    EXPECT_EQ(depth(plans), rounds) << "P=" << size << " radix=" << radix;
    EXPECT_EQ(sends(plans.back()), messages) << "P=" << size << " radix=" << radix;
  }
}

TEST(RecursiveMultiplying, OfTwoIsRecursiveDoubling) {
  for (const Rank size : {1, 2, 5, 8, 13}) {
    EXPECT_EQ(texts_of("recursive_multiplying", size, 9, {.radix = 2}), texts_of("recursive_doubling", size, 9, {}));
    EXPECT_EQ(texts_of("recursive_doubling", size, 9, {.radix = 3}), texts_of("recursive_doubling", size, 9, {}));
  }
}

TEST(SegmentedRing, OfOneSegmentIsTheRing) {
  for (const Rank size : {1, 2, 5, 8})
    for (const Count count : {0, 3, 100}) {
      const auto ring = texts_of("ring", size, count, {});
      EXPECT_EQ(texts_of("ring", size, count, {.segment = 1}), ring);
      EXPECT_EQ(texts_of("segmented_ring", size, count, {.segment = (count + size - 1) / size + 1}), ring);
      EXPECT_EQ(texts_of("segmented_ring", size, count, {.segment = std::numeric_limits<Count>::max()}), ring);
    }
}

TEST(SegmentedRing, SendsSegmentsThatDoNotWaitForEachOther) {
  for (const Rank size : {2, 3, 4, 7}) {
    constexpr Count segment = 4;
    const Count parts = 3;
    const std::vector<plan::Plan> plans =
        plans_of("segmented_ring", size, parts * segment * size, {.segment = segment});
    for (const plan::Plan& plan : plans) {
      EXPECT_EQ(sends(plan), parts * 2 * (size - 1));
      for (const plan::Step& step : plan.steps)
        EXPECT_TRUE(step.verb != Verb::send || step.source.count == segment) << plan::print(step);
    }
    EXPECT_EQ(depth(plans), 2 * (size - 1));
  }
}

TEST(SegmentedRing, ChoosesSegmentsThatBoundThePlan) {
  for (const Rank size : {2, 4, 8, 64})
    for (const Count count : {Count{1} << 20, Count{1} << 30, Count{1} << 40}) {
      const std::vector<plan::Plan> plans = plans_of("segmented_ring", size, count, {});
      EXPECT_LE(plans[0].steps.size(), 1000u);
      EXPECT_GT(sends(plans[0]), (size <= 8 ? 2 : 0) * 2 * (size - 1));
    }
}

}  // namespace
}  // namespace tutti::collectives
