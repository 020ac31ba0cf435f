// SPDX-License-Identifier: BSD-3-Clause
#include "plan/mutants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/text.hpp"

namespace tutti::plan {
namespace {

constexpr Board board{.length = {4, 64, 2}, .cell = {8, 0, 64}};

std::vector<Plan> plans(std::initializer_list<std::string> ranks) {
  std::vector<Plan> all;
  for (const std::string& steps : ranks)
    all.push_back(parse("rank " + std::to_string(all.size()) + " of " + std::to_string(ranks.size()) +
                        " scratch 8 ring small cells 3\n" + steps));
  return all;
}

/// Rank 0's input ends in both outputs.
Contract bcast(Count count) {
  const Piece result{Buffer::output, 0, count, {{0, 0}}};
  return {{{count, count, {{Buffer::input, 0, count, {{0, 0}}}}, {result}}, {0, count, {}, {result}}}};
}

const std::string root = "a: copy input[0..4) -> output[0..4)\nb: send input[0..4) to 1 #0\n";
const std::string leaf = "a: recv 4 from 0 #0 -> output[0..4)\n";

/// The proof of the survivor whose mutation contains this text.
std::string proof_of(const MutationReport& report, const std::string& mutation) {
  const auto found = std::ranges::find_if(report.survivors, [&](const Survivor& survivor) {
    return survivor.mutation.find(mutation) != std::string::npos;
  });
  return found == report.survivors.end() ? "was refused" : found->proof;
}

MutationReport mutate(const std::vector<Plan>& all, const Contract& contract) {
  Checker checker;
  const Verdict verdict = checker.check(all, contract, board);
  EXPECT_TRUE(verdict.ok) << verdict.text;
  return mutate(all, contract, board, checker);
}

TEST(Mutants, NoneOfAPlanWithoutSuperfluousStepsSurvives) {
  const MutationReport report = mutate(plans({root, leaf}), bcast(4));
  EXPECT_GT(report.mutants, 15u);
  EXPECT_EQ(report.killed, report.mutants) << report.text();
}

TEST(Mutants, ChangeWhatTheySay) {
  const std::vector<Plan> original = plans({root + "c: recv_reduce 2 from 1 #0 -> scratch[1..3) after a b\n", ""});
  const auto changed = [&](Mutation mutation) {
    mutation.step = mutation.step == 0 ? 2 : mutation.step;
    std::vector<Plan> mutant = original;
    perform(mutation, mutant);
    return print(mutant[0]).substr(print(mutant[0]).rfind("s2"));
  };
  using enum Mutation::Change;
  using enum Mutation::Operand;
  EXPECT_EQ(changed({unlink, step, 0, 0, 1}), "s2: recv_reduce 2 from 1 #0 -> scratch[1..3) after s0\n");
  EXPECT_EQ(changed({offset, target, 0, 0, -1}), "s2: recv_reduce 2 from 1 #0 -> scratch[0..2) after s0 s1\n");
  EXPECT_EQ(changed({count, step, 0, 0, 1}), "s2: recv_reduce 3 from 1 #0 -> scratch[1..4) after s0 s1\n");
  EXPECT_EQ(changed({peer, step, 0, 0, 1}), "s2: recv_reduce 2 from 0 #0 -> scratch[1..3) after s0 s1\n");
  EXPECT_EQ(changed({message, step, 0, 0, 1}), "s2: recv_reduce 2 from 1 #1 -> scratch[1..3) after s0 s1\n");
  EXPECT_EQ(changed({side, step, 0, 0, 0}), "s2: recv_reduce 2 from 1 #0 -> scratch[1..3) right after s0 s1\n");
  std::vector<Plan> mutant = original;
  perform({remove, step, 0, 0, 0}, mutant);
  EXPECT_EQ(print(mutant[0]).find("copy"), std::string::npos);
  EXPECT_NE(print(mutant[0]).find("s1: recv_reduce 2 from 1 #0 -> scratch[1..3) after s0\n"), std::string::npos);
  mutant = original;
  perform({twice, step, 0, 1, 0}, mutant);
  EXPECT_NE(print(mutant[0]).find("s2: send input[0..4) to 1 #0 after s1\n"), std::string::npos);
  EXPECT_NE(print(mutant[0]).find("-> scratch[1..3) after s0 s2\n"), std::string::npos);
}

TEST(Mutants, ADoubledContributionIsSentTwice) {
  std::vector<Plan> mutant = plans({"a: recv_reduce 2 from 1 #3 -> output[0..2)\n", "a: send input[0..2) to 0 #3\n"});
  perform({Mutation::Change::twice, Mutation::Operand::step, 0, 0, 0}, mutant);
  EXPECT_NE(print(mutant[0]).find("s1: recv_reduce 2 from 1 #4 -> output[0..2) after s0\n"), std::string::npos);
  EXPECT_NE(print(mutant[1]).find("s1: send input[0..2) to 0 #4 after s0\n"), std::string::npos);
}

TEST(Mutants, SurvivorsComeWithTheirProof) {
  const std::string superfluous =
      "a: copy input[2..4) -> output[2..4)\nb: send input[0..4) to 1 #0\n"
      "c: copy input[0..2) -> scratch[0..2)\n"
      "d: copy input[2..4) -> scratch[2..4) after b\n"
      "e: copy scratch[0..2) -> scratch[4..6) after c\n"
      "f: copy scratch[4..6) -> output[0..2) after a c e\n";
  const MutationReport report = mutate(plans({superfluous, leaf}), bcast(4));
  EXPECT_EQ(report.unproved(), 0u) << report.text();
  EXPECT_EQ(proof_of(report, "s3 (copy input[2..4) -> scratch[2..4)): edge after s1"),
            "it orders only steps that touch nothing in common");
  EXPECT_EQ(proof_of(report, "s5 (copy scratch[4..6) -> output[0..2)): edge after s2"), "the other edges imply it");
  EXPECT_EQ(proof_of(report, "s3 (copy input[2..4) -> scratch[2..4)): removed"),
            "the elements it writes otherwise are overwritten before they are read, or never read");
  EXPECT_EQ(proof_of(report, "s5 (copy scratch[4..6) -> output[0..2)): edge after s4"), "was refused");
  EXPECT_EQ(proof_of(report, "s0 (copy input[2..4) -> output[2..4)): removed"), "was refused");
  EXPECT_NE(report.text().find("survive with proof, 0 without\n"), std::string::npos);
}

TEST(Mutants, SurvivorsOnTheBoardComeWithTheirProof) {
  const std::string writer =
      "a: copy input[0..4) -> output[0..4)\nb: copy input[0..4) -> shared[0]#0[0..4)\n"
      "c: publish 0 shared[0]#0[0..4) after b\nd: publish 1 scratch[0..0)\n"
      "e: publish 2 input[1..3)\n";
  const std::string reader =
      "a: await 0 0 expects 4\nb: await all 0 expects 4 after a\nc: copy shared[0]#0[0..4) -> output[0..4) after b\n"
      "d: release 0 after c\ne: await 0 2 expects 2\n";
  const MutationReport report = mutate(plans({writer, reader}), bcast(4));
  EXPECT_EQ(report.unproved(), 0u) << report.text();
  EXPECT_EQ(proof_of(report, "s4 (publish 2 input[1..3)): source offset + 1"), "no step reads what it shows");
  EXPECT_EQ(proof_of(report, "s4 (publish 2 input[1..3)): source count - 1"), "was refused");
  EXPECT_EQ(proof_of(report, "s3 (publish 1 scratch[0..0)): removed"), "no rank awaits the cell");
  EXPECT_EQ(proof_of(report, "s1 (await all 0 expects 4): removed"), "no step uses the cell after this await alone");
  EXPECT_NE(proof_of(report, "s3 (release 0): removed").find("a release moves no data"), std::string::npos);
  EXPECT_EQ(proof_of(report, "s2 (copy shared[0]#0[0..4) -> output[0..4)): edge after s1"), "was refused");
}

/// Rank 0's data comes back to where it lies from the start.
TEST(Mutants, SurvivorsMayLeaveOutWhatLiesThereBefore) {
  const Piece data{Buffer::output, 0, 4, {{0, 0}}};
  const Contract contract{{{0, 4, {data}, {data}}, {0, 4, {}, {data}}}};
  const MutationReport report =
      mutate(plans({"a: send output[0..4) to 1 #0\nb: recv 4 from 1 #0 -> scratch[0..4)\n"
                    "c: copy scratch[0..4) -> output[0..4) after a b\n",
                    "a: recv 4 from 0 #0 -> output[0..4)\nb: send output[0..4) to 0 #0 after a\n"}),
             contract);
  EXPECT_EQ(proof_of(report, "s2 (copy scratch[0..4) -> output[0..4)): count - 1"),
            "the element it leaves out lies there before");
  EXPECT_EQ(proof_of(report, "s2 (copy scratch[0..4) -> output[0..4)): removed"),
            "the elements it leaves out lie there before");
}

}  // namespace
}  // namespace tutti::plan
