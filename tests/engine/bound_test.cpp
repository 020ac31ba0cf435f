// SPDX-License-Identifier: BSD-3-Clause
// In which order the steps of a plan begin.
#include "engine/bound.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "plan/builder.hpp"

namespace tutti::engine {
namespace {

using plan::Verb;

Description of_bytes() {
  Description says;
  says.kind = Kind::plan;
  says.type = Type::opaque;
  says.element = 1;
  return says;
}

/// The verbs of steps in the order in which the engine takes them from a stack.
std::vector<Verb> begun(const Bound& bound) {
  std::vector<Verb> verbs;
  for (auto at = bound.starts.rbegin(); at != bound.starts.rend(); ++at) verbs.push_back(bound.plan.steps[*at].verb);
  return verbs;
}

TEST(Bound, BeginsReceivesFirst) {
  plan::Builder b(0, 3);
  b.send(1, plan::Builder::input(0, 4));
  b.recv(1, plan::Builder::output(0, 4));
  b.send(2, plan::Builder::input(0, 4));
  b.recv(2, plan::Builder::output(4, 4));
  const Bound bound(b.build(), of_bytes());
  EXPECT_EQ(begun(bound), (std::vector{Verb::recv, Verb::recv, Verb::send, Verb::send}));
  EXPECT_EQ(bound.plan.steps[bound.starts.back()].peer, 1);  // among themselves as they were written
}

TEST(Bound, BeginsReceivesFirstAfterAStep) {
  plan::Builder b(0, 2);
  const plan::Handle first = b.recv(1, plan::Builder::output(0, 4));
  b.send(1, plan::Builder::input(0, 4)).after(first);
  b.recv(1, plan::Builder::output(4, 4)).after(first);
  const Bound bound(b.build(), of_bytes());
  const std::span<const plan::Index> next(bound.successors.begin() + bound.first_successor[0],
                                          bound.successors.begin() + bound.first_successor[1]);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(bound.plan.steps[next[0]].verb, Verb::recv);
  EXPECT_EQ(bound.plan.steps[next[1]].verb, Verb::send);
}

}  // namespace
}  // namespace tutti::engine
