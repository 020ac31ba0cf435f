// SPDX-License-Identifier: BSD-3-Clause
#include "plan/builder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../refusal.hpp"

namespace tutti::plan {
namespace {

std::vector<Index> predecessors(const Plan& plan, Index step) {
  const auto edges = plan.after(plan.steps.at(step));
  return {edges.begin(), edges.end()};
}

TEST(Builder, BinomialBroadcastInTenLines) {
  Builder plan(2, 6);
  const Slice data = Builder::output(0, 8);
  Handle have;
  Rank bit = 1;
  for (; bit < 6; bit *= 2)
    if (plan.rank() & bit) {
      have = plan.recv(plan.rank() - bit, data);
      break;
    }
  for (bit /= 2; bit > 0; bit /= 2)
    if (plan.rank() + bit < 6) plan.send(plan.rank() + bit, data).after(have);
  const Plan built = plan.build();
  ASSERT_EQ(built.steps.size(), 2U);
  EXPECT_EQ(built.steps[0].verb, Verb::recv);
  EXPECT_EQ(built.steps[0].peer, 0);
  EXPECT_EQ(built.steps[1].verb, Verb::send);
  EXPECT_EQ(built.steps[1].peer, 3);
  EXPECT_EQ(predecessors(built, 1), (std::vector<Index>{0}));
}

TEST(Builder, NumbersMessagesPerPairAndDirection) {
  Builder plan(0, 3);
  const Slice data = Builder::input(0, 1);
  plan.send(1, data);
  plan.send(2, data);
  plan.send(1, data);
  plan.recv(1, Builder::output(0, 1));
  plan.recv_reduce(1, Builder::output(0, 1));
  const Plan built = plan.build();
  EXPECT_EQ(built.steps[0].message, 0U);
  EXPECT_EQ(built.steps[1].message, 0U);
  EXPECT_EQ(built.steps[2].message, 1U);
  EXPECT_EQ(built.steps[3].message, 0U);
  EXPECT_EQ(built.steps[4].message, 1U);
}

TEST(Builder, LeavesOutEdgesThatOthersImply) {
  Builder plan(0, 2);
  const Slice a = plan.scratch(1);
  const Slice b = plan.scratch(1);
  EXPECT_EQ(b.offset, 1);
  const Handle first = plan.copy(Builder::input(0, 1), a);
  const Handle second = plan.copy(a, b).after(first);
  plan.copy(b, Builder::output(0, 1)).after({first, second, Handle(), second});
  const Plan built = plan.build();
  EXPECT_EQ(built.scratch, 2);
  EXPECT_EQ(predecessors(built, 2), (std::vector<Index>{1}));
}

TEST(Builder, RoundsWaitForTheLastStepsOfTheRoundBefore) {
  Builder plan(0, 3);
  plan.round();
  const Handle first = plan.recv(1, plan.scratch(1));
  plan.recv(2, plan.scratch(1));
  plan.copy(Builder::input(0, 1), plan.scratch(1)).after(first);
  plan.round();
  plan.round();
  const Handle third = plan.send(1, Builder::input(0, 1));
  plan.send(2, Builder::input(0, 1)).after({first, third});
  plan.round();
  plan.send(2, Builder::input(0, 1)).after(first);
  const Plan built = plan.build();
  EXPECT_TRUE(predecessors(built, 0).empty());
  EXPECT_TRUE(predecessors(built, 1).empty());
  EXPECT_EQ(predecessors(built, 3), (std::vector<Index>{1, 2}));
  EXPECT_EQ(predecessors(built, 4), (std::vector<Index>{3}));
  EXPECT_EQ(predecessors(built, 5), (std::vector<Index>{4}));
}

TEST(Builder, AfterAnyKeepsAllChoices) {
  Builder plan(0, 3);
  const Slice a = plan.scratch(1);
  const Handle first = plan.recv(1, a);
  const Handle second = plan.recv(2, a);
  const Handle chosen = plan.copy(a, Builder::output(0, 1)).after_any({first, second});
  plan.copy(a, Builder::output(1, 1)).after({first, chosen});
  const Plan built = plan.build();
  EXPECT_TRUE(built.steps[2].any);
  EXPECT_EQ(predecessors(built, 2), (std::vector<Index>{0, 1}));
  EXPECT_EQ(predecessors(built, 3), (std::vector<Index>{0, 2})) << "any implies no single one of its predecessors";
}

TEST(Builder, OneThatMayBeCancelledImpliesNothingBeforeIt) {
  Builder plan(0, 3);
  const Slice a = plan.scratch(1), b = plan.scratch(1);
  const Handle before = plan.copy(Builder::input(0, 1), a);
  const Handle first = plan.send(1, a).after(before);
  const Handle second = plan.recv(2, b);
  plan.copy(Builder::input(0, 1), Builder::output(0, 1)).after_any({first, second});
  plan.copy(a, Builder::output(1, 1)).after({before, first});
  plan.round();
  plan.copy(a, Builder::output(2, 1));
  const Plan built = plan.build();
  EXPECT_EQ(predecessors(built, 4), (std::vector<Index>{0, 1}));
  EXPECT_EQ(predecessors(built, 5), (std::vector<Index>{3, 4}));
}

TEST(Builder, IsEmptyAfterBuild) {
  Builder plan(1, 2);
  plan.use(Ring::large, 3);
  plan.send(0, Builder::input(0, 1));
  EXPECT_EQ(plan.build().cells, 3);
  plan.send(0, Builder::input(0, 1));
  const Plan second = plan.build();
  EXPECT_EQ(second.rank, 1);
  EXPECT_EQ(second.cells, 0);
  ASSERT_EQ(second.steps.size(), 1U);
  EXPECT_EQ(second.steps[0].message, 0U);
}

TEST(Builder, RefusesWhatCannotBeAndSaysWhatToDo) {
  const Slice data = Builder::input(0, 1);
  EXPECT_NE(refusal([] { Builder(3, 3); }).find("does not exist"), std::string::npos);
  Builder plan(0, 2);
  Builder other(0, 2);
  EXPECT_NE(refusal([&] { plan.send(2, data); }).find("not in a group of 2"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.recv(-1, data); }).find("not in a group of 2"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.send(0, data); }).find("itself"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.send(1, Slice{}); }).find("no slice"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.send(1, Builder::input(0, -1)); }).find("0 or more"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.copy(data, Builder::output(0, 2)); }).find("same count"), std::string::npos);
  EXPECT_NE(refusal([&] { plan.scratch(-1); }).find("scratch"), std::string::npos);
  const Handle first = plan.send(1, data);
  const Handle second = plan.send(1, data);
  EXPECT_NE(refusal([&] { first.after(second); }).find("earlier step"), std::string::npos);
  EXPECT_NE(refusal([&] { second.after(other.send(1, data)); }).find("same plan"), std::string::npos);
  second.after(first);
  EXPECT_NE(refusal([&] { second.after_any({first}); }).find("after_any alone"), std::string::npos);
  plan.publish(0, Builder::shared(0, 0, 0, 1));
  EXPECT_NE(refusal([&] { plan.build(); }).find("call use()"), std::string::npos);
}

}  // namespace
}  // namespace tutti::plan
