// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm keeps its contract when buffers of some ranks, or of all, are laid out: the plans with their copies
// to and from scratch are proved like any other. What a rank takes to lie in its output before is what the contract
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "plan/staging.hpp"
#include "problems.hpp"

namespace tutti::collectives {
namespace {

using plan::Buffer;

/// Which ranks' buffers are laid out.
struct Some {
  bool input, output;
  Rank every;  // of how many ranks one
};
constexpr Some ways[] = {{true, false, 1}, {false, true, 1}, {true, true, 1}, {true, true, 2}, {false, true, 3}};

std::vector<plan::Plan> stage(const std::vector<plan::Plan>& plans, const Problem& problem, const Some& some) {
  const Shapes shapes(problem);
  std::vector<plan::Plan> made = plans;
  for (plan::Plan& plan : made)
    if (plan.rank % some.every == 0)
      plan = plan::staged(plan, {some.input, some.output, output_before(problem.kind, shapes[plan.rank])});
  return made;
}

bool touches_directly(const plan::Step& step, Buffer buffer) {
  return (step.source.buffer == buffer && step.source.count > 0) ||
         (step.target.buffer == buffer && step.target.count > 0);
}

/// Messages and exposed memory know nothing of a laid-out buffer.
void expect_copies_alone(const plan::Plan& plan, const Some& some, const std::string& name) {
  for (const plan::Step& step : plan.steps) {
    if (step.verb == plan::Verb::copy || step.verb == plan::Verb::reduce) continue;
    EXPECT_FALSE(some.input && touches_directly(step, Buffer::input)) << name;
    EXPECT_FALSE(some.output && touches_directly(step, Buffer::output)) << name;
  }
}

class Staging : public testing::TestWithParam<Rank> {};

TEST_P(Staging, KeepsTheContract) {
  plan::Checker checker;
  std::size_t checks = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for_each_problem(algorithm, GetParam(), [&](const Problem& problem) {
      const std::vector<plan::Plan> plans = build(algorithm, problem);
      if (plans.empty()) return;
      for (const Some& some : ways) {
        const std::vector<plan::Plan> made = stage(plans, problem, some);
        const std::string name = describe(algorithm, problem);
        expect_copies_alone(made[0], some, name);
        const plan::Verdict verdict = checker.check(made, get(problem.kind).contract(problem), board_of(problem));
        ASSERT_TRUE(verdict.ok) << name << (some.input ? " input" : "") << (some.output ? " output" : "") << ": "
                                << verdict.text;
        ++checks;
      }
    });
  }
  std::printf("%zu checks\n", checks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Staging, testing::Values(1, 2, 3, 4, 5, 8, 11));

/// Without one of its new copies, or with one that is too short, a staged plan is refused.
TEST(StagingMutants, AreRefused) {
  plan::Checker checker;
  std::size_t mutants = 0;
  for (const Algorithm& algorithm : algorithms()) {
    const bool reduces = get(algorithm.kind).reduces;
    const Rank root = has_neighbors(algorithm.kind) ? 1 : 0;  // a ring: nothing goes nowhere
    const Problem problem = problem_of(algorithm.kind, 4, root, 21, false, !reduces);
    const std::vector<plan::Plan> plans = build(algorithm, problem);
    if (plans.empty()) continue;
    const std::vector<plan::Plan> made = stage(plans, problem, {true, true, 1});
    // What the last rank gives to exscan is nobody's.
    const std::size_t ranks = made.size() - (algorithm.kind == Kind::exscan ? 1 : 0);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < made[rank].steps.size(); ++i) {
        const plan::Step& step = made[rank].steps[i];
        const bool added =
            step.verb == plan::Verb::copy && step.source.count > 0 &&
            (step.source.buffer == Buffer::scratch || step.target.buffer == Buffer::scratch) &&
            std::max(step.source.offset * (step.source.buffer == Buffer::scratch),
                     step.target.offset * (step.target.buffer == Buffer::scratch)) >= plans[rank].scratch;
        if (!added) continue;
        for (const Count less : {Count{1}, step.source.count}) {
          std::vector<plan::Plan> wrong = made;
          wrong[rank].steps[i].source.count -= less;
          wrong[rank].steps[i].target.count -= less;
          const plan::Verdict verdict = checker.check(wrong, get(problem.kind).contract(problem), board_of(problem));
          EXPECT_FALSE(verdict.ok) << describe(algorithm, problem) << ": rank " << rank << " step " << i << " less "
                                   << less;
          ++mutants;
        }
      }
  }
  EXPECT_GT(mutants, 100u);
  std::printf("%zu mutants\n", mutants);
}

TEST(OutputBefore, IsWhatTheContractsSay) {
  for (const Collective& collective : all()) {
    const auto found = std::ranges::find(algorithms(), collective.kind, &Algorithm::kind);
    ASSERT_NE(found, algorithms().end());
    for_each_problem(*found, 5, [&](const Problem& problem) {
      const Shapes shapes(problem);
      const plan::Contract contract = collective.contract(problem);
      for (Rank rank = 0; rank < problem.size; ++rank) {
        std::set<Count> said, is;
        for (const plan::Slice& slice : output_before(problem.kind, shapes[rank]))
          for (Count i = 0; i < slice.count; ++i) is.insert(slice.offset + i);
        for (const plan::Piece& piece : contract.ranks[static_cast<std::size_t>(rank)].before)
          for (Count i = 0; piece.buffer == Buffer::output && i < piece.count; ++i) said.insert(piece.offset + i);
        EXPECT_EQ(said, is) << describe(*found, problem) << " rank " << rank;
      }
    });
  }
}

}  // namespace
}  // namespace tutti::collectives
