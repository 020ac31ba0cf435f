// SPDX-License-Identifier: BSD-3-Clause
#include "plan/text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../refusal.hpp"
#include "base/random.hpp"
#include "random_plan.hpp"
#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

constexpr std::string_view example =
    "rank 2 of 5 scratch 10 ring large cells 2\n"
    "s0: recv 10 from 0 #0 -> output[0..10)\n"
    "s1: send output[0..10) to 3 #0 after s0\n"
    "s2: publish 0 shared[2]#0[0..8)\n"
    "s3: await all 0 expects 8\n"
    "s4: reduce shared[1]#0[0..8) -> scratch[0..8) right after s0 s3\n"
    "s5: copy scratch[0..8) -> output[0..8) after any s4 s1\n"
    "s6: recv_reduce 2 from 4 #7 -> output[8..10) after s1\n"
    "s7: await 3 0 expects 0 after s6\n"
    "s8: release 0 after s4\n"
    "s9: publish 1 output[10..12) open\n"
    "s10: copy output[0..2) -> exposed[0]#1[2..4) after s7\n";

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.scratch, b.scratch);
  EXPECT_EQ(a.ring, b.ring);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.edges, b.edges);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    const Step& x = a.steps[i];
    const Step& y = b.steps[i];
    EXPECT_TRUE(x.verb == y.verb && x.side == y.side && x.any == y.any && x.peer == y.peer && x.message == y.message &&
                x.cell == y.cell && x.source == y.source && x.target == y.target && x.first == y.first &&
                x.last == y.last && x.open == y.open)
        << "step " << i << ": " << print(x) << " / " << print(y);
  }
}

TEST(Text, EveryVerbIsOneLine) { EXPECT_EQ(print(parse(example)), example); }

TEST(Text, SkipsCommentsBlanksAndTakesAnyLabel) {
  const Plan plan = parse(
      "// a pair\n\n  rank 0 of 2   scratch 0 ring small cells 0\r\n"
      "hear: recv 1 from 1 #0->output[0..1)\n  // comment\n\ttell:send output [ 0 .. 1 ) to 1 # 0 after hear");
  EXPECT_EQ(print(plan),
            "rank 0 of 2 scratch 0 ring small cells 0\n"
            "s0: recv 1 from 1 #0 -> output[0..1)\n"
            "s1: send output[0..1) to 1 #0 after s0\n");
}

TEST(Text, RandomPlansSurviveARoundTrip) {
  constexpr std::uint64_t seed = 20240611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Plan plan = RandomPlan(seed + i * 1000003).build();
    const std::string text = print(plan);
    const Plan parsed = parse(text);
    expect_same(plan, parsed);
    ASSERT_EQ(print(parsed), text);
  }
}

TEST(Text, NamesTheLineOfWhatItRefuses) {
  const std::string head = "rank 0 of 3 scratch 0 ring small cells 2\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "ends before the line"},
      {"// nothing\n", "ends before the line"},
      {"s0: release 0\n", "line 1: expected 'rank'"},
      {"rank 3 of 3 scratch 0 ring small cells 0", "line 1: the rank is not below the size"},
      {"rank 0 of 99999999999 scratch 0 ring small cells 0", "line 1: expected a group's size from 0 to 2147483647"},
      {"rank 0 of 1 scratch 99999999999999999999 ring small cells 0", "line 1: expected elements of scratch"},
      {"rank 0 of 1 scratch 0 ring round cells 0", "line 1: a ring is"},
      {"rank 0 of 1 scratch 0 ring small cells 0 more", "line 1: 'more' is too much"},
      {head + "s0 release 0\n", "line 2: expected ':'"},
      {head + "s0: releases 0\n", "line 2: a verb is"},
      {head + "s0: release 2\n", "line 2: expected a cell from 0 to 1"},
      {head + "s0: release -1\n", "line 2: expected a cell from 0 to 1"},
      {head + "\n//\ns0: send input[0..1) to 3 #0\n", "line 4: expected a rank from 0 to 2"},
      {head + "s0: send input[0..1) to 0 #0\n", "line 2: the rank names itself"},
      {head + "s0: send input[0..1) to 1 #4294967296\n", "line 2: expected a message"},
      {head + "s0: send input[2..1) to 1 #0\n", "line 2: a range ends before it begins"},
      {head + "s0: send input[0..9223372036854775808) to 1 #0\n", "line 2: expected an offset"},
      {head + "s0: send none[0..1) to 1 #0\n", "line 2: a buffer is"},
      {head + "s0: send shared[3]#0[0..1) to 1 #0\n", "line 2: expected a rank"},
      {head + "s0: recv 2 from 1 #0 -> output[0..1)\n", "line 2: the count is not that of the target"},
      {head + "s0: copy input[0..2) -> output[0..1)\n", "line 2: source and target differ"},
      {head + "s0: copy input[0..2) -> output[0..2) right\n", "line 2: 'right' is too much"},
      {head + "s0: release 0 after s1\ns1: release 0\n", "line 2: label 's1' does not stand on an earlier line"},
      {head + "s0: release 0 after s0\n", "line 2: label 's0' does not stand on an earlier line"},
      {head + "s0: release 0\ns0: release 1\n", "line 3: label 's0' stands twice"},
      {head + "any: release 0\n", "line 2: 'any' is no label"},
      {head + "s0: release 0 after\n", "line 2: expected a label before 'the end of the line'"},
      {head + "s0: release 0 afterwards s0\n", "line 2: 'afterwards s0' is too much"},
  };
  for (const auto& [text, reason] : cases) expect_refused(reason, [&] { parse(text); });
}

TEST(Text, RefusesOrParsesWhateverBytesItIsGiven) {
  constexpr std::uint64_t seed = 77;
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::Random random(seed);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(example);
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = random.below(text.size());
      if (random.once_in(3))
        text.erase(at, random.below(8));
      else if (random.once_in(2))
        text.insert(at, 1, static_cast<char>(random.below(256)));
      else
        text[at] = static_cast<char>(random.below(256));
    }
    try {
      const Plan plan = parse(text);
      EXPECT_EQ(print(parse(print(plan))), print(plan));
      ++parsed;
    } catch (const Error& error) {
      ASSERT_NE(std::string(error.what()).find("plan text, line "), std::string::npos);
    }
  }
  EXPECT_GT(parsed, 0);
  EXPECT_LT(parsed, 20000);
}

}  // namespace
}  // namespace tutti::plan
