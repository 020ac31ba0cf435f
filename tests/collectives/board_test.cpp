// SPDX-License-Identifier: BSD-3-Clause
// Plans on the board: as short as they should be, nobody waits for whom it does not need, and rings may wrap.
#include "collectives/board.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "plan/mutants.hpp"
#include "plan/text.hpp"
#include "problems.hpp"

namespace tutti::collectives {
namespace {

using plan::Plan;
using plan::Step;
using plan::Verb;

std::vector<Plan> plans_of(Kind kind, std::string_view name, const Problem& problem) {
  const Algorithm* algorithm = find(kind, name);
  EXPECT_NE(algorithm, nullptr) << name;
  return algorithm == nullptr ? std::vector<Plan>() : build(*algorithm, problem);
}

TEST(BoardPlans, AllreduceOfTwoHasOneStepLeftAfterWaiting) {
  const std::vector<Plan> plans = plans_of(Kind::allreduce, "board", {.kind = Kind::allreduce, .size = 2, .count = 1});
  EXPECT_EQ(plan::print(plans.at(0)), R"(rank 0 of 2 scratch 0 ring small cells 1
s0: copy input[0..1) -> shared[0]#0[0..1)
s1: publish 0 shared[0]#0[0..1) after s0
s2: copy input[0..1) -> output[0..1)
s3: await 1 0 expects 1
s4: reduce shared[1]#0[0..1) -> output[0..1) right after s2 s3
)");
}

TEST(BoardPlans, AllreduceInPlaceOfTwoHasFourSteps) {
  const std::vector<Plan> plans =
      plans_of(Kind::allreduce, "board", {.kind = Kind::allreduce, .size = 2, .count = 1, .in_place = true});
  EXPECT_EQ(plan::print(plans.at(1)), R"(rank 1 of 2 scratch 0 ring small cells 1
s0: copy output[0..1) -> shared[1]#0[0..1)
s1: publish 0 shared[1]#0[0..1) after s0
s2: await 0 0 expects 1
s3: reduce shared[0]#0[0..1) -> output[0..1) after s0 s2
)");
}

/// Beyond what the sweep's cells and counts reach: rings wrap, also with pieces that do not fill their cells.
TEST(BoardPlans, GathervOfTwoTakesVeryLargeBlocksInPieces) {
  plan::Checker checker;
  for (const Rank root : {0, 1})
    for (const bool in_place : {false, true})
      for (const auto& [count, mine] :
           {std::pair<Count, Count>{32, 10}, {33, 11}, {64, 0}, {64, 21}, {107, 35}, {107, 1070}}) {
        Problem problem{.kind = Kind::gatherv, .size = 2, .root = root, .in_place = in_place, .gap = 3};
        problem.counts = root == 0 ? std::vector<Count>{mine, count} : std::vector<Count>{count, mine};
        problem.cell.small = 1;
        problem.cell.large = 2;
        const std::vector<Plan> plans = plans_of(Kind::gatherv, "board", problem);
        EXPECT_EQ(plans.at(0).cells, count == 32 ? 1 : 1 + (count - 16 + 1) / 2);
        const plan::Contract contract = get(problem.kind).contract(problem);
        const plan::Verdict verdict = checker.check(plans, contract, board_of(problem));
        EXPECT_TRUE(verdict.ok) << count << ": " << verdict.text;
        if (count != 33 || !verdict.ok) continue;
        const plan::MutationReport report = mutate(plans, contract, board_of(problem), checker);
        EXPECT_EQ(report.unproved(), 0u) << report.text();
        EXPECT_LE(report.survivors.size(), report.mutants / 20) << report.text();
      }
}

/// Whose cells a rank waits for.
std::vector<Rank> awaited(const Plan& plan) {
  std::vector<Rank> ranks;
  for (const Step& step : plan.steps)
    if (step.verb == Verb::await) ranks.push_back(step.peer);
  return ranks;
}

TEST(BoardPlans, NobodyWaitsForWhomItDoesNotNeed) {
  constexpr Rank root = 2, size = 5;
  for (const Kind kind : {Kind::bcast, Kind::scatter})
    for (const Plan& plan : plans_of(kind, "board", {.kind = kind, .size = size, .root = root, .count = 3}))
      EXPECT_EQ(awaited(plan), plan.rank == root ? std::vector<Rank>() : std::vector<Rank>{root}) << name_of(kind);
  for (const Kind kind : {Kind::reduce, Kind::gather})
    for (const Plan& plan : plans_of(kind, "board", {.kind = kind, .size = size, .root = root, .count = 3}))
      EXPECT_EQ(awaited(plan).size(), plan.rank == root ? 4u : 0u) << name_of(kind);
  const Problem large{.kind = Kind::gather, .size = size, .root = root, .count = 100};
  for (const Plan& plan : plans_of(Kind::gather, "single_copy", large)) {
    if (plan.rank == root) continue;
    ASSERT_EQ(plan.steps.back().verb, Verb::await);
    EXPECT_EQ(plan.steps.back().cell, position(plan.rank, root, size) - 1) << "every contributor has a receipt";
  }
}

TEST(BoardPlans, AllreduceFoldsInTheSameOrderEverywhere) {
  constexpr Rank size = 6;
  for (const bool in_place : {false, true}) {
    const Problem problem{.kind = Kind::allreduce, .size = size, .count = 2, .in_place = in_place};
    for (const Plan& plan : plans_of(Kind::allreduce, "board", problem)) {
      std::vector<Rank> order;
      for (const Step& step : plan.steps) {
        const bool own = step.source.buffer == plan::Buffer::input || step.source.owner == plan.rank;
        if (step.verb != Verb::publish && step.target.buffer == plan::Buffer::output)
          order.push_back(own ? plan.rank : step.source.owner);
      }
      std::vector<Rank> expected = {5, 4, 3, 2, 1, 0};
      if (in_place && plan.rank == size - 1) expected.erase(expected.begin());  // it lies there already
      EXPECT_EQ(order, expected) << "rank " << plan.rank;
    }
  }
}

TEST(BoardPlans, ChildrenOfAFlatTreeAreRangesInOrder) {
  for (const int radix : {2, 3, 8})
    for (Rank size = 1; size <= 70; ++size) {
      std::vector<Rank> parents(static_cast<std::size_t>(size), -1);
      for (Rank rank = 0; rank < size; ++rank) {
        Rank last = rank;
        for (const Rank child : board::children(rank, size, radix)) {
          EXPECT_GT(child, last);
          EXPECT_EQ(parents[static_cast<std::size_t>(child)], -1) << child << " has two parents";
          parents[static_cast<std::size_t>(child)] = rank;
          last = child;
        }
      }
      EXPECT_EQ(std::ranges::count(parents, -1), 1) << "only rank 0 has no parent";
    }
}

void expect_right(const Algorithm& algorithm, const Problem& problem, plan::Checker& checker) {
  const std::vector<Plan> plans = build(algorithm, problem);
  if (plans.empty()) return;
  plan::Verdict verdict = checker.check(plans, get(problem.kind).contract(problem), board_of(problem));
  EXPECT_TRUE(verdict.ok) << describe(algorithm, problem) << ": " << verdict.text;
  const std::vector<std::vector<Plan>> thrice(3, plans);
  verdict = checker.check_sequence(thrice, board_of(problem));
  EXPECT_TRUE(verdict.ok) << describe(algorithm, problem) << ", three times: " << verdict.text;
}

/// Of thousands of ranks, who each have a piece for each other in every round: what is before a piece is not counted
/// anew for each. (Rank by rank: ten seconds.)
TEST(BoardPlans, ReduceScatterOfManyRanksIsBuiltInTimeOfItsSteps) {
  const Shape shape{.rank = 4000, .size = 8000, .count = 8, .cell = {12, 0, 8192}};
  const std::clock_t begun = std::clock();
  const Plan plan = find(Kind::reduce_scatter_block, "board_pipeline")->build(shape);
  EXPECT_LT((std::clock() - begun) / CLOCKS_PER_SEC, 4) << "seconds of processor time";
  EXPECT_EQ(plan.cells, 8);
  EXPECT_EQ(std::ranges::count(plan.steps, Verb::reduce, &Step::verb), 8 * (shape.size - 1));
}

TEST(BoardPlans, RingsMayWrapSeveralTimes) {
  plan::Checker checker;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.needs.board) continue;
    for (const Rank size : {2, 3, 5, 19, 37})
      for (const bool in_place : {false, true}) {
        if (in_place && !has_in_place(algorithm.kind)) continue;
        const Rank root = get(algorithm.kind).rooted ? size / 3 : 0;
        Problem problem = problem_of(algorithm.kind, size, root, size < 10 ? 70 : 7, in_place, false);
        problem.cell.large = size < 10 ? 3 : 5;
        expect_right(algorithm, problem, checker);
        problem.cell.small = 7;
        expect_right(algorithm, problem, checker);
      }
  }
}

TEST(BoardPlans, BlocksOfAllSizesMayMeet) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  base::Random random(seed);
  plan::Checker checker;
  for (const Kind kind : {Kind::gatherv, Kind::scatterv, Kind::allgatherv, Kind::alltoallv})
    for (int n = 0; n < 60; ++n) {
      const auto size = static_cast<Rank>(1 + random.below(n % 6 == 0 ? 80 : 8));
      Problem problem = problem_of(kind, size, 0, 0, random.once_in(2), true);
      if (get(kind).rooted) problem.root = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
      problem.gap = static_cast<Count>(random.below(3));
      problem.cell.medium = problem.cell.small + static_cast<Count>(random.below(9));
      // A third each: nothing, what fits a cell, what does not.
      for (Count& count : problem.counts)
        count =
            static_cast<Count>(random.below(3) * (1 + random.below(static_cast<std::uint64_t>(problem.cell.small))));
      expect_right(*find(kind, "board"), problem, checker);
    }
}

}  // namespace
}  // namespace tutti::collectives
