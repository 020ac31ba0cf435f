// SPDX-License-Identifier: BSD-3-Clause
// Stages become parts of a whole: ranks, slices, cells and messages are those of the group, and steps wait for what
// they need of the stages before, and for nothing else.
#include "collectives/compose.hpp"

#include <gtest/gtest.h>

#include "plan/checker.hpp"
#include "plan/text.hpp"
#include "problems.hpp"
#include "tutti/error.hpp"

namespace tutti::collectives {
namespace {

using plan::Plan;
using plan::Verb;

/// Ranks 0, 2 and 4 on one host, 1 and 3 on another.
constexpr Rank dealt[] = {0, 1, 0, 1, 0};

Shape shape_of(Rank rank) { return {.rank = rank, .size = 5, .hosts = dealt, .cell = {16, 0, 256}}; }

TEST(Composition, RenamesRanksAndMovesSlicesAndCells) {
  const Shape shape = shape_of(3);
  Composition b(shape, 4);
  EXPECT_EQ(b.leader(), 1);
  EXPECT_FALSE(b.leads());
  EXPECT_EQ(b.take_cells(board::Ring::small, 2), 0);
  b.here(Kind::bcast, b.shape_here(1, 4), {}, Writer::output(8, 4));
  b.here(Kind::reduce, b.shape_here(1, 3), Writer::output(8, 3), {});
  EXPECT_EQ(plan::print(b.build()), R"(rank 3 of 5 scratch 0 ring small cells 4
s0: await 1 2 expects 4
s1: copy shared[1]#2[0..4) -> output[8..12) after s0
s2: copy output[8..11) -> shared[3]#3[0..3) after s1
s3: publish 3 shared[3]#3[0..3) after s2
)");
}

TEST(Composition, NumbersTheMessagesOfAllStages) {
  const Rank pair[] = {1, 4};
  const Shape shape = shape_of(4);
  Composition b(shape, 1);
  for (int n = 0; n < 2; ++n) b.stage(bcast::linear(b.shape_among(pair, 1, 2)), pair, {}, Writer::output(2 * n, 2));
  b.stage(bcast::linear(b.shape_among(pair, 4, 2)), pair, {}, Writer::output(1, 2));
  EXPECT_EQ(plan::print(b.build()), R"(rank 4 of 5 scratch 0 ring small cells 0
s0: recv 2 from 1 #0 -> output[0..2)
s1: recv 2 from 1 #1 -> output[2..4)
s2: send output[1..3) to 1 #0 after s0 s1
)");
}

TEST(Composition, WaitsForReadersToo) {
  const Rank pair[] = {1, 4};
  const Shape shape = shape_of(1);
  Composition b(shape, 1);
  b.stage(bcast::linear(b.shape_among(pair, 1, 4)), pair, {}, Writer::output(0, 4));
  b.copy(Writer::input(0, 2), Writer::output(3, 2));
  b.copy(Writer::output(5, 2), Writer::output(7, 2));
  b.reduce(Writer::output(7, 1), Writer::output(2, 1), Side::left);
  EXPECT_EQ(plan::print(b.build()), R"(rank 1 of 5 scratch 0 ring small cells 0
s0: send output[0..4) to 4 #0
s1: copy input[0..2) -> output[3..5) after s0
s2: copy output[5..7) -> output[7..9)
s3: reduce output[7..8) -> output[2..3) after s0 s2
)");
}

TEST(Composition, LetsNothingLeaveBeforeItMay) {
  const Rank pair[] = {0, 1};
  const Shape shape = shape_of(0);
  Composition b(shape, 0);
  const Handle first = b.copy(Writer::input(0, 1), Writer::output(0, 1));
  const std::vector<Handle> met = b.stage(barrier::dissemination(b.shape_among(pair, 0, 0)), pair, {}, {}, {first});
  ASSERT_EQ(met.size(), 1u);
  b.copy(Writer::input(1, 1), Writer::output(1, 1)).after(met);
  EXPECT_EQ(plan::print(b.build()), R"(rank 0 of 5 scratch 0 ring small cells 0
s0: copy input[0..1) -> output[0..1)
s1: send scratch[0..0) to 1 #0 after s0
s2: recv 0 from 1 #0 -> scratch[0..0)
s3: copy input[1..2) -> output[1..2) after s2
)");
}

TEST(Composition, RefusesWhatCannotBePart) {
  const auto refused = [](const std::string& reason, auto add) {
    const Shape shape = shape_of(0);
    Composition b(shape, 100);
    try {
      add(b);
      ADD_FAILURE() << "not refused: " << reason;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  const Rank pair[] = {0, 2}, others[] = {2, 4}, host[] = {0, 2, 4};
  const Plan here = bcast::board_pipeline({.rank = 0, .size = 3, .count = 4, .cell = {.large = 4}});
  refused("rank 0 has no part", [&](Composition& b) { b.shape_among(others, 2, 1); });
  refused("not those of the stage's plan", [&](Composition& b) { b.stage(here, pair, {}, Writer::output(0, 4)); });
  refused("one of all ranks of the host", [&](Composition& b) {
    b.stage(bcast::board_pipeline({.rank = 0, .size = 2, .count = 4, .cell = {.large = 4}}), pair, {},
            Writer::output(0, 4));
  });
  refused("beyond the 3 elements", [&](Composition& b) { b.stage(here, host, {}, Writer::output(0, 3)); });
  refused("cells of different rings", [&](Composition& b) {
    b.take_cells(board::Ring::small, 1);
    b.stage(here, host, {}, Writer::output(0, 4));
  });
  refused("gatherv does not go through cells alone",
          [&](Composition& b) { b.here(Kind::gatherv, b.shape_here(0, 1), {}, {}); });
  refused("for any of several", [&](Composition& b) {
    plan::Builder inner(0, 2);
    const Handle sent = inner.send(1, plan::Builder::output(0, 1)), again = inner.send(1, plan::Builder::output(0, 1));
    inner.copy(plan::Builder::input(0, 1), plan::Builder::output(1, 1)).after_any({sent, again});
    b.stage(inner.build(), pair, Writer::input(0, 1), Writer::output(0, 2));
  });
}

/// Stages with more cells than a ring has: each gives back those of the one before.
TEST(Composition, ReleasesTheCellsOfOneStageForTheNext) {
  plan::Checker checker;
  for (const Count count : {3, 40, 70})
    for (const Count segment : {1, 3, 7}) {
      Problem problem = problem_of(Kind::bcast, 5, 2, count, false, true);
      problem.hosts.assign(std::begin(dealt), std::end(dealt));
      problem.cell.small = 2;
      problem.cell.large = 4;
      problem.parameters.segment = segment;
      const Shapes shapes(problem);
      std::vector<Plan> plans;
      for (Rank rank = 0; rank < problem.size; ++rank) {
        const Shape& shape = shapes[rank];
        Composition b(shape, count, 2);
        // To the leaders, to their hosts, back to them, and once more to their hosts.
        if (b.leads()) b.among(b.leaders(), Kind::bcast, b.shape_among(b.leaders(), 2, count), {}, whole(shape));
        b.here(Kind::bcast, b.shape_here(b.leader(), count), {}, whole(shape));
        b.here(Kind::bcast, b.shape_here(b.hosts().here().back(), count), {}, whole(shape));
        b.here(Kind::bcast, b.shape_here(b.leader(), count), {}, whole(shape));
        plans.push_back(b.build());
      }
      const auto needed =
          static_cast<std::int32_t>((count + std::min<Count>(segment, 4) - 1) / std::min<Count>(segment, 4));
      EXPECT_EQ(plans[0].cells, 3 * needed);
      plan::Verdict verdict = checker.check(plans, get(Kind::bcast).contract(problem), board_of(problem));
      EXPECT_TRUE(verdict.ok) << describe(*find(Kind::bcast, "hosts"), problem) << ": " << verdict.text;
      const std::vector<std::vector<Plan>> thrice(3, plans);
      verdict = checker.check_sequence(thrice, board_of(problem));
      EXPECT_TRUE(verdict.ok) << verdict.text;
    }
}

TEST(Composition, LeavesExposedMemoryAlone) {
  const Shape shape = shape_of(0);
  Composition b(shape, 4);
  b.stage(bcast::single_copy(b.shape_here(0, 4)), b.hosts().here(), {}, Writer::output(0, 4));
  b.copy(Writer::input(0, 1), Writer::output(3, 1));
  b.copy(Writer::input(0, 1), Writer::output(4, 1));
  EXPECT_EQ(plan::print(b.build()), R"(rank 0 of 5 scratch 0 ring small cells 1
s0: publish 0 output[0..4)
s1: await all 0 expects 0
s2: copy input[0..1) -> output[3..4) after s0 s1
s3: copy input[0..1) -> output[4..5)
)");
}

/// A stage that reads others' memory: what it exposes is written again when all have read it.
TEST(Composition, MayExposeMemory) {
  plan::Checker checker;
  Problem problem = problem_of(Kind::allreduce, 5, 0, 9, true, true);
  problem.hosts.assign(std::begin(dealt), std::end(dealt));
  const Shapes shapes(problem);
  std::vector<Plan> plans;
  for (Rank rank = 0; rank < problem.size; ++rank) {
    const Shape& shape = shapes[rank];
    Composition b(shape, problem.count);
    Shape up = b.shape_here(b.leader(), problem.count);
    up.in_place = b.leads();
    b.stage(reduce::single_copy_shared(up), b.hosts().here(), whole(shape), whole(shape));
    if (b.leads()) {
      Shape across = b.shape_among(b.leaders(), 0, problem.count);
      across.in_place = true;
      b.stage(allreduce::recursive_doubling(across), b.leaders(), {}, whole(shape));
    }
    b.stage(bcast::single_copy(b.shape_here(b.leader(), problem.count)), b.hosts().here(), {}, whole(shape));
    plans.push_back(b.build());
  }
  const plan::Verdict verdict = checker.check(plans, get(problem.kind).contract(problem), board_of(problem));
  EXPECT_TRUE(verdict.ok) << verdict.text;
}

/// Among leaders, too, a long message is one of the longest block: no leader hands on what is not for its host, and
/// none needs room for what belongs at home in the output.
TEST(Composition, LeadersMoveNoBlockTwice) {
  constexpr Rank hosts[] = {0, 0, 1, 1, 2, 2};
  for (const Count count : {1, 3000})
    for (const Rank rank : {0, 2, 4}) {
      const Shape shape{.rank = rank, .size = 6, .count = count, .hosts = hosts, .cell = {16, 0, 8192}};
      const Plan summed = reduce_scatter_block::hosts(shape), collected = allgather::hosts(shape);
      Count sent = 0;
      for (const plan::Step& step : summed.steps)
        if (step.verb == Verb::send) sent += step.source.count;
      EXPECT_EQ(sent, 4 * count) << "rank " << rank;
      EXPECT_TRUE(count == 1 || collected.scratch == 0) << "rank " << rank << ": " << collected.scratch;
    }
}

}  // namespace
}  // namespace tutti::collectives
