// SPDX-License-Identifier: BSD-3-Clause
// Proves the checker on every registered algorithm: each small change to its plans is refused, or is listed with the
// proof that it does not matter; those are few.
#include <gtest/gtest.h>

#include <cstdio>

#include "plan/mutants.hpp"
#include "problems.hpp"

namespace tutti::collectives {
namespace {

struct Sum {
  std::uint64_t mutants = 0, survivors = 0;
};

/// Both forms, each with the algorithm's own parameters, with small segments and wide trees, and in small groups with
/// segments shorter than a rank's share.
std::vector<Problem> problems_of(const Algorithm& algorithm, Rank size) {
  const Collective& collective = get(algorithm.kind);
  std::vector<Parameters> tried = {{}, {.segment = 5, .radix = 3}};
  if (size <= 3) tried.push_back({.segment = 2, .radix = 3});
  std::vector<Problem> problems;
  for (const bool in_place : {false, true})
    for (const Parameters& parameters : tried) {
      if (in_place && !has_in_place(algorithm.kind)) continue;
      const bool commutative = !collective.reduces || algorithm.needs.commutative;
      std::vector<Rank> roots = {!collective.rooted ? 0 : in_place ? size - 1 : size / 2};
      if (has_neighbors(algorithm.kind)) roots = {0, 1, 2, 3, 4};  // graphs
      for (const Rank root : roots) {
        Problem problem = problem_of(algorithm.kind, size, root, 2 * size + 1, in_place, commutative);
        problem.parameters = parameters;
        for (int n = 0; n < (algorithm.needs.hosts ? 2 : 1); ++n)
          problems.push_back(placed(algorithm, problem, static_cast<int>(problems.size())));
      }
    }
  return problems;
}

/// All survivors have a proof.
void expect_killed(const Algorithm& algorithm, const Problem& problem, plan::Checker& checker, Sum& sum) {
  const std::vector<plan::Plan> plans = build(algorithm, problem);
  if (plans.empty()) return;
  const plan::Contract contract = get(problem.kind).contract(problem);
  const plan::Verdict verdict = checker.check(plans, contract, board_of(problem));
  ASSERT_TRUE(verdict.ok) << describe(algorithm, problem) << ": " << verdict.text;
  const plan::MutationReport report = mutate(plans, contract, board_of(problem), checker);
  EXPECT_EQ(report.unproved(), 0u) << describe(algorithm, problem) << "\n" << report.text();
  sum.mutants += report.mutants;
  sum.survivors += report.survivors.size();
}

TEST(MutantSweep, EverySmallChangeIsRefusedOrProvedHarmless) {
  plan::Checker checker;
  Sum all;
  for (const Algorithm& algorithm : algorithms()) {
    Sum sum;
    for (const Rank size : {2, 3, 4, 5, 7})
      for (const Problem& problem : problems_of(algorithm, size)) expect_killed(algorithm, problem, checker, sum);
    std::printf("%-12s %-20s %6llu mutants, %4llu survive with proof\n", std::string(name_of(algorithm.kind)).c_str(),
                std::string(algorithm.name).c_str(), static_cast<unsigned long long>(sum.mutants),
                static_cast<unsigned long long>(sum.survivors));
    EXPECT_LE(sum.survivors, sum.mutants / 20) << algorithm.name;
    all.mutants += sum.mutants;
    all.survivors += sum.survivors;
  }
  std::printf("%llu mutants, %llu survive with proof\n", static_cast<unsigned long long>(all.mutants),
              static_cast<unsigned long long>(all.survivors));
  EXPECT_GT(all.mutants, 0u);
}

}  // namespace
}  // namespace tutti::collectives
