// SPDX-License-Identifier: BSD-3-Clause
#include "plan/checker.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "plan/mutations.hpp"
#include "plan/text.hpp"
#include "random_plan.hpp"

namespace tutti::plan {
namespace {

constexpr Board board{.length = {4, 64, 2}, .cell = {8, 0, 64}};

/// Plans from their steps alone: the first lines follow from the position.
std::vector<Plan> plans(std::initializer_list<std::string> ranks,
                        const std::string& head = "scratch 8 ring small cells 2") {
  std::vector<Plan> all;
  for (const std::string& steps : ranks)
    all.push_back(parse("rank " + std::to_string(all.size()) + " of " + std::to_string(ranks.size()) + " " + head +
                        "\n" + steps));
  return all;
}

/// Every rank has `count` elements of input and ends with the reduction of all in its output.
Contract allreduce(Rank size, Count count, bool commutative = true) {
  Contract contract{{}, commutative};
  Value all;
  for (Rank rank = 0; rank < size; ++rank) all.push_back({rank, 0});
  for (Rank rank = 0; rank < size; ++rank)
    contract.ranks.push_back(
        {count, count, {{Buffer::input, 0, count, {{rank, 0}}}}, {{Buffer::output, 0, count, all}}});
  return contract;
}

/// Rank 0's input ends in everyone's output [0, count); two more elements of output stay untouched.
Contract bcast(Rank size, Count count) {
  Contract contract;
  for (Rank rank = 0; rank < size; ++rank) {
    contract.ranks.push_back({count, count + 2, {}, {{Buffer::output, 0, count, {{0, 0}}}}});
    if (rank == 0) contract.ranks[0].before.push_back({Buffer::input, 0, count, {{0, 0}}});
  }
  return contract;
}

void expect_refused(const Verdict& verdict, Rank rank, Index step, const std::string& reason) {
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.rank, rank) << verdict.text;
  EXPECT_EQ(verdict.step, step) << verdict.text;
  EXPECT_NE(verdict.text.find(reason), std::string::npos) << verdict.text;
  if (step != Verdict::no_step) {
    EXPECT_NE(verdict.text.find("rank " + std::to_string(rank)), std::string::npos) << verdict.text;
  }
}

const std::string exchange_0 =
    "a: copy input[0..4) -> output[0..4)\n"
    "b: send input[0..4) to 1 #0\n"
    "c: recv_reduce 4 from 1 #0 -> output[0..4) right after a\n";
const std::string exchange_1 =
    "a: copy input[0..4) -> output[0..4)\n"
    "b: send input[0..4) to 0 #0\n"
    "c: recv_reduce 4 from 0 #0 -> output[0..4) after a\n";

TEST(Checker, PassesAnExchange) {
  for (const bool commutative : {true, false}) {
    const Verdict verdict = check(plans({exchange_0, exchange_1}), allreduce(2, 4, commutative), board);
    EXPECT_TRUE(verdict.ok) << verdict.text;
  }
}

TEST(Checker, KeepsTheOrderOfReductionsThatDoNotCommute) {
  std::string wrong = exchange_0;
  wrong.erase(wrong.find(" right"), 6);
  EXPECT_TRUE(check(plans({wrong, exchange_1}), allreduce(2, 4, true), board).ok);
  expect_refused(
      check(plans({wrong, exchange_1}), allreduce(2, 4, false), board), 0, Verdict::no_step,
      "it ends with output[0..4) holding rank 1's 0 · rank 0's 0 (its first element), but must hold rank 0's "
      "0 · rank 1's 0");
}

TEST(Checker, FindsWhatIsWrongWithStructure) {
  const auto refused = [](const std::string& step, Index index, const std::string& reason) {
    expect_refused(check(plans({step, ""}), bcast(2, 4), board), 0, index, reason);
  };
  refused("a: copy input[0..5) -> output[0..5)", 0, "input[0..5) reaches beyond its 4 elements");
  refused("a: copy input[0..4) -> output[3..7)", 0, "output[3..7) reaches beyond its 6 elements");
  refused("a: copy input[0..4) -> scratch[5..9)", 0, "scratch[5..9) reaches beyond its 8 elements");
  refused("a: copy input[0..1) -> shared[0]#0[8..9)", 0, "shared[8..9) reaches beyond its 8 elements");
  refused("a: copy scratch[0..1) -> input[0..1)", 0, "it writes input");
  refused("a: copy input[0..2) -> output[3..5)", 0, "the contract leaves some elements untouched");
  refused("a: copy scratch[0..2) -> scratch[1..3)", 0, "its source overlaps its target");
  refused("a: copy input[0..1) -> shared[1]#0[0..1)", 0, "it writes a cell of rank 1");
  refused("a: publish 1 shared[0]#0[0..1)", 0, "a range of another cell");
  refused("a: send exposed[1]#0[0..1) to 1 #0", 0, "by copy and reduce alone");
  std::vector<Plan> wrong = plans({"a: copy input[0..1) -> scratch[0..1)", ""});
  wrong[0].steps[0].last = wrong[0].steps[0].first + 1;
  wrong[0].edges.push_back(0);
  expect_refused(check(wrong, bcast(2, 4), board), 0, 0, "not an earlier step");
  wrong = plans({"", ""});
  wrong[1].cells = 1;
  expect_refused(check(wrong, bcast(2, 4), board), 1, Verdict::no_step, "it takes 1 cells");
  wrong = plans({"", ""});
  wrong[1].rank = 0;
  expect_refused(check(wrong, bcast(2, 4), board), 1, Verdict::no_step, "its plan is that of rank 0 of 2");
}

TEST(Checker, FindsMessagesWithoutMatch) {
  const Contract contract = bcast(2, 4);
  expect_refused(check(plans({"a: send input[0..4) to 1 #0", ""}), contract, board), 0, 0, "rank 1 receives no such");
  expect_refused(check(plans({"", "a: recv 4 from 0 #0 -> output[0..4)"}), contract, board), 1, 0,
                 "rank 0 sends no such");
  expect_refused(check(plans({"a: send input[0..4) to 1 #0", "a: recv 4 from 0 #1 -> output[0..4)"}), contract, board),
                 0, 0, "rank 1 receives no such");
  expect_refused(check(plans({"a: send input[0..4) to 1 #0", "a: recv 3 from 0 #0 -> output[0..3)"}), contract, board),
                 0, 0, "it sends 4 elements, but rank 1 s0 (recv 3 from 0 #0 -> output[0..3)) receives 3");
  expect_refused(
      check(plans({"a: send input[0..4) to 1 #0\nb: send input[0..4) to 1 #0", "a: recv 4 from 0 #0 -> output[0..4)"}),
            contract, board),
      0, 1, "has the same message number");
}

TEST(Checker, FindsDeadlocksUnderRendezvous) {
  const std::string first = "a: send input[0..4) to 1 #0\nb: recv 4 from 1 #0 -> output[0..4) after a\n";
  const std::string second = "a: send input[0..4) to 0 #0\nb: recv 4 from 0 #0 -> output[0..4) after a\n";
  expect_refused(check_user(plans({first, second}), board), 0, 0, "deadlock: it waits for itself: rank 0 s0");
  expect_refused(check_user(plans({"a: await 1 0 expects 1\nb: copy input[0..1) -> shared[0]#0[0..1)\n"
                                   "c: publish 0 shared[0]#0[0..1) after a b",
                                   "a: await 0 0 expects 1\nb: copy input[0..1) -> shared[1]#0[0..1) after a\n"
                                   "c: publish 0 shared[1]#0[0..1) after b"}),
                            board),
                 0, 0, "deadlock");
}

TEST(Checker, FindsRacesOfOneRank) {
  std::string wrong = exchange_0;
  wrong.erase(wrong.find(" after a"), 8);
  expect_refused(check(plans({wrong, exchange_1}), allreduce(2, 4), board), 0, 2,
                 "it races with step s0 (copy input[0..4) -> output[0..4)): both touch output[0..4)");
  const Verdict both_read =
      check_user(plans({"a: send output[0..4) to 1 #0\nb: send output[2..6) to 1 #1",
                        "a: recv 4 from 0 #0 -> scratch[0..4)\nb: recv 4 from 0 #1 -> scratch[4..8)"}),
                 board);
  EXPECT_TRUE(both_read.ok) << both_read.text;
  expect_refused(check_user(plans({"a: send output[0..4) to 1 #0\nb: recv 1 from 1 #0 -> output[3..4)",
                                   "a: recv 4 from 0 #0 -> scratch[0..4)\nb: send input[0..1) to 0 #0"}),
                            board),
                 0, 1, "both touch output[3..4)");
}

TEST(Checker, FindsUndefinedReads) {
  expect_refused(check(plans({"a: copy scratch[0..4) -> output[0..4)", ""}), bcast(2, 4), board), 0, 0,
                 "it reads scratch[0], which is undefined");
  expect_refused(
      check(plans({"a: copy input[0..2) -> scratch[0..2)\nb: copy scratch[0..4) -> output[0..4) after a", ""}),
            bcast(2, 4), board),
      0, 1, "it reads scratch[2], which is undefined");
  expect_refused(check(plans({"a: copy input[0..4) -> output[0..4)\nb: send output[0..4) to 1 #0 after a",
                              "a: recv_reduce 4 from 0 #0 -> output[0..4)"}),
                       bcast(2, 4), board),
                 1, 0, "it reads output[0], which is undefined");
  expect_refused(check(plans({"a: publish 0 shared[0]#0[0..4)", ""}), bcast(2, 4), board), 0, 0,
                 "it reads shared[0] of rank 0's cell 0, which is undefined");
}

TEST(Checker, ComparesTheResultExactly) {
  const std::string root = "a: copy input[0..4) -> output[0..4)\nb: send input[0..4) to 1 #0\n";
  EXPECT_TRUE(check(plans({root, "a: recv 4 from 0 #0 -> output[0..4)"}), bcast(2, 4), board).ok);
  expect_refused(check(plans({root, "a: recv 4 from 0 #0 -> scratch[0..4)"}), bcast(2, 4), board), 1, Verdict::no_step,
                 "it ends with output[0] undefined");
  expect_refused(
      check(plans({root,
                   "a: recv 4 from 0 #0 -> scratch[0..4)\nb: copy scratch[0..2) -> output[0..2) after a\n"
                   "c: copy scratch[3..4) -> output[2..3) after a\nd: copy scratch[2..3) -> output[3..4) after a"}),
            bcast(2, 4), board),
      1, Verdict::no_step,
      "it ends with output[2..3) holding rank 0's 3 (its first element), but must hold rank 0's 2");
  const std::string doubled = exchange_0 + "d: reduce input[0..4) -> output[0..4) after c\n";
  expect_refused(check(plans({doubled, exchange_1}), allreduce(2, 4), board), 0, Verdict::no_step,
                 "holding rank 0's 0 · rank 0's 0 · rank 1's 0");
}

/// A plan that adds its sum to itself holds twice as many contributions each time: they can be neither counted nor
/// told.
TEST(Checker, TellsTheFirstOfManyContributions) {
  std::string steps = "c: copy input[0..1) -> output[0..1)\n", last = "c";
  for (int i = 0; i < 32; ++i) {
    const std::string number = std::to_string(i), copy = "c" + number, sum = "r" + number;
    steps += copy + ": copy output[0..1) -> scratch[0..1) after " + last + "\n" + sum +
             ": reduce scratch[0..1) -> output[0..1) after " + copy + "\n";
    last = sum;
  }
  steps += "d: reduce input[0..1) -> output[0..1) after " + last + "\n";  // 2 to the 32nd, and one more
  const Verdict verdict = check(plans({steps}), allreduce(1, 1), board);
  expect_refused(verdict, 0, Verdict::no_step, "holding rank 0's 0 · rank 0's 0 · ");
  EXPECT_NE(verdict.text.find(" · … (its first element), but must hold rank 0's 0"), std::string::npos) << verdict.text;
}

const std::string cell_0 =
    "a: copy input[0..4) -> shared[0]#0[0..4)\n"
    "b: publish 0 shared[0]#0[0..4) after a\n"
    "c: copy input[0..4) -> output[0..4)\n"
    "d: await all 0 expects 4\n"
    "e: reduce shared[1]#0[0..4) -> output[0..4) right after c d\n";
const std::string cell_1 =
    "a: copy input[0..4) -> shared[1]#0[0..4)\n"
    "b: publish 0 shared[1]#0[0..4) after a\n"
    "c: copy input[0..4) -> output[0..4)\n"
    "d: await 0 0 expects 4\n"
    "e: reduce shared[0]#0[0..4) -> output[0..4) after c d\n";

TEST(Checker, PassesCellsAndTheirRelease) {
  const Verdict verdict = check(plans({cell_0 + "f: release 0 after b e\n", cell_1}), allreduce(2, 4, false), board);
  EXPECT_TRUE(verdict.ok) << verdict.text;
}

TEST(Checker, FindsBrokenRulesOfCells) {
  const auto refused = [](const std::string& first, const std::string& second, Index index, const std::string& reason) {
    expect_refused(check(plans({first, second}), allreduce(2, 4), board), 0, index, reason);
  };
  const auto without = [](std::string text, const std::string& part) {
    return text.erase(text.find(part), part.size());
  };
  refused(cell_0, without(cell_1, "b: publish 0 shared[1]#0[0..4) after a\n"), 3, "rank 1 does not publish that cell");
  refused(cell_0,
          without(without(cell_1, "b: publish 0 shared[1]#0[0..4) after a\n"),
                  "a: copy input[0..4) -> shared[1]#0[0..4)\n"),
          3, "rank 1 does not publish that cell");
  refused(cell_0 + "f: publish 0 shared[0]#0[0..4) after b", cell_1, 5, "step s1 publishes the same cell");
  refused(without(cell_0, " after a"), cell_1, 1, "races with step s0");
  refused(without(cell_0, " d\n") + "\n", cell_1, 4, "no await of that cell comes before it");
  refused(cell_0 + "f: release 0 after b c d\n", cell_1, 4, "not provably before step s5 releases it");
  refused(cell_0 + "f: release 0 after e\n", cell_1, 0, "not provably before step s5 releases it");
  refused(cell_0 + "f: release 0 after b e\ng: release 0 after f\n", cell_1, 6, "covers the cell already");
  refused(cell_0 + "f: release 0 after b e\ng: release 1 after b e\n", cell_1, 6, "no edges order it");
  refused(cell_0 + "f: copy input[0..1) -> shared[0]#0[4..5) after b\n", cell_1, 5,
          "not provably before step s1 publishes");
  refused(cell_0 + "f: copy shared[1]#0[3..5) -> scratch[0..2) after d\n", cell_1, 5, "it reads beyond what rank 1 s1");
  refused(cell_0 + "f: copy shared[1]#1[3..4) -> scratch[0..1) after d\n", cell_1, 5, "is never published");
  refused(cell_0 + "f: copy exposed[1]#0[3..4) -> scratch[0..1) after d\n", cell_1, 5, "read it as shared");
  std::string expects = cell_0;
  expects.replace(expects.find("expects 4"), 9, "expects 3");
  refused(expects, cell_1, 3, "it expects 3 elements, but rank 1 s1");
}

TEST(Checker, CellsAreReusedOnlyAfterTheirRelease) {
  constexpr Board one{.length = {.small = 1, .medium = 64, .large = 1}, .cell = {.small = 8, .medium = 0, .large = 8}};
  const std::string writer =
      "a: copy input[0..1) -> shared[0]#0[0..1)\nb: publish 0 shared[0]#0[0..1) after a\n"
      "r: release 0 after b\n"
      "c: copy input[1..2) -> shared[0]#1[0..1)\nd: publish 1 shared[0]#1[0..1) after c\n";
  const std::string reader =
      "a: await 0 0 expects 1\nb: copy shared[0]#0[0..1) -> output[0..1) after a\nr: release 0 after b\n"
      "c: await 0 1 expects 1\nd: copy shared[0]#1[0..1) -> output[1..2) after c\n";
  const Verdict good = check_user(plans({writer, reader}), one);
  EXPECT_TRUE(good.ok) << good.text;
  std::string never = reader;
  never.erase(never.find("r: release 0 after b\n"), 21);
  expect_refused(check_user(plans({writer, never}), one), 0, 3, "the completion of rank 1");
  constexpr Board two{.length = {.small = 2, .medium = 64, .large = 2}, .cell = {.small = 8, .medium = 0, .large = 8}};
  EXPECT_TRUE(check_user(plans({writer, never}), two).ok);
  std::string stuck = writer;
  stuck.erase(stuck.find("r: release 0 after b\n"), 21);
  expect_refused(check_user(plans({stuck, reader}), one), 0, 2, "the completion of rank 0");
}

const std::string exposing =
    "a: copy input[0..4) -> output[0..4)\n"
    "b: publish 0 output[0..4) after a\n"
    "c: await 1 1 expects 0\n";
const std::string reading =
    "a: await 0 0 expects 4\n"
    "b: copy exposed[0]#0[0..4) -> output[0..4) after a\n"
    "c: publish 1 shared[1]#1[0..0) after b\n";

TEST(Checker, ExposedMemoryStaysPutUntilItsReadersAreDone) {
  const Verdict good = check(plans({exposing, reading}), bcast(2, 4), board);
  EXPECT_TRUE(good.ok) << good.text;
  std::string early = reading;
  early.erase(early.find(" after b"), 8);
  expect_refused(check(plans({exposing, early}), bcast(2, 4), board), 1, 1, "too early");
  expect_refused(
      check(plans({exposing + "d: copy input[1..2) -> output[0..1) after b\n", reading}), bcast(2, 4), board), 0, 3,
      "it writes memory that rank 0 s1 (publish 0 output[0..4)) exposes, while rank 1 s1");
  const Verdict later =
      check_user(plans({exposing + "d: copy input[1..2) -> output[0..1) after a c\n", reading}), board);
  EXPECT_TRUE(later.ok) << later.text;
  expect_refused(check(plans({exposing,
                              "a: await 0 0 expects 4\nb: copy shared[0]#0[0..4) -> output[0..4) after a\n"
                              "c: publish 1 shared[1]#1[0..0) after b\n"}),
                       bcast(2, 4), board),
                 1, 1, "read it as exposed");
}

/// Rank 0 opens its output, rank 1 writes it and says so.
const std::string opening =
    "a: publish 0 output[0..4) open\n"
    "b: await 1 1 expects 0\n";
const std::string writing =
    "a: await 0 0 expects 4\n"
    "b: copy output[0..4) -> exposed[0]#0[0..4) after a\n"
    "c: publish 1 shared[1]#1[0..0) after b\n";

TEST(Checker, OpenMemoryIsItsWritersUntilTheySaySo) {
  const auto verdict = [](const std::string& owner, const std::string& writer) {
    return check_user(plans({owner, writer}), board);
  };
  EXPECT_TRUE(verdict(opening, writing).ok) << verdict(opening, writing).text;
  EXPECT_TRUE(verdict(opening + "c: copy output[0..4) -> scratch[0..4) after b\n", writing).ok);
  std::string early = writing;
  early.erase(early.find(" after b"), 8);
  expect_refused(verdict(opening, early), 1, 1, "comes after the write: it may be complete");
  expect_refused(verdict(opening + "c: copy output[1..2) -> scratch[0..1) after a\n", writing), 0, 2,
                 "it reads memory that rank 0 s0 (publish 0 output[0..4) open) exposes, while rank 1 s1");
  expect_refused(verdict(opening + "c: copy input[1..2) -> output[3..4) after a\n", writing), 0, 2, "it writes memory");
  std::string twice = writing;
  twice.insert(twice.find("c:"), "d: copy input[0..1) -> exposed[0]#0[3..4) after a\n");
  twice.insert(twice.rfind('\n'), " d");
  expect_refused(verdict(opening, twice), 1, 2, "it writes memory");
  std::string less = writing;
  less.replace(less.find("output[0..4) -> exposed[0]#0[0..4)"), 34, "output[0..3) -> exposed[0]#0[0..3)");
  expect_refused(verdict(opening, less), 0, 0, "nobody writes its element 3");
  std::string blind = writing;
  blind.erase(blind.find(" after a"), 8);
  expect_refused(verdict(opening, blind), 1, 1, "no await of that cell comes before it");
}

TEST(Checker, MemoryIsOpenOrReadable) {
  std::string shown = opening;
  shown.erase(shown.find(" open"), 5);
  expect_refused(check_user(plans({shown, writing}), board), 1, 1, "lets others read alone");
  std::string reads = writing;
  reads.replace(reads.find("output[0..4) -> exposed[0]#0[0..4)"), 34, "exposed[0]#0[0..4) -> output[0..4)");
  expect_refused(check_user(plans({opening, reads}), board), 1, 1, "lets others write alone");
  std::string beyond = writing;
  beyond.replace(beyond.find("exposed[0]#0[0..4)"), 18, "exposed[0]#0[1..5)");
  expect_refused(check_user(plans({opening, beyond}), board), 1, 1, "it writes beyond what rank 0 s0");
}

TEST(Checker, OpenMemoryIsWrittenByCopiesOfOnesOwn) {
  const auto refused = [](const std::string& step, const std::string& reason) {
    expect_refused(check(plans({step, ""}), bcast(2, 4), board), 0, 0, reason);
  };
  refused("a: reduce input[0..1) -> exposed[1]#0[0..1)", "written by copies of this rank's own memory alone");
  refused("a: recv 1 from 1 #0 -> exposed[1]#0[0..1)", "written by copies of this rank's own memory alone");
  refused("a: copy exposed[1]#1[0..1) -> exposed[1]#0[0..1)", "written by copies of this rank's own memory alone");
  refused("a: copy input[0..1) -> exposed[0]#0[0..1)", "it writes its own memory as exposed");
  refused("a: publish 0 input[0..1) open", "it opens what others must not write");
  refused("a: publish 0 shared[0]#0[0..1) open", "it opens what others must not write");
  refused("a: publish 0 output[3..5) open", "the contract leaves some elements untouched");
}

TEST(Checker, ASendMayBeDoneBeforeItsReceive) {
  const std::string owner =
      "a: copy input[0..4) -> output[0..4)\nb: publish 0 output[0..4) after a\nc: send input[0..0) to 1 #0\n";
  const std::string reader =
      "a: await 0 0 expects 4\nb: copy exposed[0]#0[0..4) -> output[0..4) after a\n"
      "c: recv 0 from 0 #0 -> scratch[0..0) after b\n";
  expect_refused(check(plans({owner, reader}), bcast(2, 4), board), 1, 1, "too early");
}

TEST(Checker, ABarrierLetsNobodyGoEarly) {
  Contract barrier{{{}, {}, {}}, true, true};
  const auto rank = [](Rank rank, bool edge) {
    const std::string left = std::to_string((rank + 2) % 3), right = std::to_string((rank + 1) % 3);
    return "a: send scratch[0..0) to " + right + " #0\nb: recv 0 from " + left + " #0 -> scratch[0..0)\n" +
           "c: send scratch[0..0) to " + right + " #1" + (edge ? " after b" : "") + "\nd: recv 0 from " + left +
           " #1 -> scratch[0..0)\n";
  };
  EXPECT_TRUE(check(plans({rank(0, true), rank(1, true), rank(2, true)}), barrier, board).ok);
  expect_refused(check(plans({rank(0, true), rank(1, false), rank(2, true)}), barrier, board), 2, Verdict::no_step,
                 "it can be done before rank 0 has started");
  barrier.synchronizes = false;
  EXPECT_TRUE(check(plans({rank(0, true), rank(1, false), rank(2, true)}), barrier, board).ok);
}

TEST(Checker, TriesEachChoiceOfAfterAny) {
  const std::string chooser =
      "a: await 1 0 expects 1\nb: await 2 0 expects 1\nc: copy input[0..1) -> output[0..1) after any a b\n";
  const auto teller = [](int rank) {
    return "a: copy input[0..1) -> shared[" + std::to_string(rank) + "]#0[0..1)\nb: publish 0 shared[" +
           std::to_string(rank) + "]#0[0..1) after a\n";
  };
  const Verdict good = check_user(plans({chooser, teller(1), teller(2)}), board);
  EXPECT_TRUE(good.ok) << good.text;
  const std::string wrong = chooser + "d: copy shared[1]#0[0..1) -> scratch[0..1) after c\n";
  expect_refused(check_user(plans({wrong, teller(1), teller(2)}), board), 0, 3, "(when rank 0 s2 starts after s1)");
  std::string many;
  for (int i = 0; i < 13; ++i) {
    const std::string n = std::to_string(i);
    many += "a" + n + ": await 1 0 expects 1\nb" + n + ": await 2 0 expects 1\nc" + n + ": release 0 after any a" + n +
            " b" + n + "\n";
  }
  expect_refused(check_user(plans({many, teller(1), teller(2)}), board), 0, 38, "more than 4096 ways");
}

TEST(Checker, CostsTheSameForAnyCount) {
  constexpr Count count = Count{1} << 60;
  const std::string n = std::to_string(count);
  const Verdict verdict =
      check(plans({"a: copy input[0.." + n + ") -> output[0.." + n + ")\nb: send input[0.." + n + ") to 1 #0\n",
                   "a: recv " + n + " from 0 #0 -> output[0.." + n + ")"}),
            bcast(2, count), board);
  EXPECT_TRUE(verdict.ok) << verdict.text;
}

/// Plans that fit together by chance at most: whatever they are, the checker says so and nothing breaks.
TEST(Checker, JudgesWhateverPlansItIsGiven) {
  constexpr std::uint64_t seed = 20260611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::Random random(seed);
  Checker checker;
  int passed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<Plan> all =
        random.once_in(2) ? plans({exchange_0, exchange_1}) : plans({cell_0 + "f: release 0 after b e\n", cell_1});
    for (std::uint64_t changes = random.below(4); changes > 0; --changes) {
      const std::vector<Mutation> possible = mutations(all[random.below(2)], allreduce(2, 4, false));
      const Mutation& mutation = possible[random.below(possible.size())];
      perform(mutation, all);
      if (all[0].steps.empty() || all[1].steps.empty()) break;
    }
    const Verdict verdict = checker.check_user(all, board);
    passed += verdict.ok ? 1 : 0;
    EXPECT_NE(verdict.ok, !verdict.text.empty());
  }
  EXPECT_GT(passed, 20000 / 5);
  EXPECT_LT(passed, 20000 / 2);
}

TEST(Checker, RefusesRandomPlans) {
  constexpr std::uint64_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Checker checker;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::vector<Plan> all;
    for (Rank rank = 0; rank < 3; ++rank) {
      all.push_back(RandomPlan(seed + i * 3 + static_cast<std::uint64_t>(rank)).build());
      all.back().rank = rank;
      all.back().size = 3;
      all.back().cells = 4;
      all.back().ring = Ring::small;
    }
    const Verdict verdict = checker.check_user(all, board);
    EXPECT_NE(verdict.ok, !verdict.text.empty());
  }
}

TEST(Sequence, PassesMoreOperationsThanARingHasCells) {
  std::vector<std::vector<Plan>> operations(9, plans({cell_0, cell_1}));
  const Verdict verdict = check_sequence(operations, board);
  EXPECT_TRUE(verdict.ok) << verdict.text;
}

TEST(Sequence, FindsOperationsThatWaitForEachOther) {
  // One operation's first rank waits for the second before it releases; the next operation needs that cell.
  constexpr Board one{.length = {.small = 1, .medium = 64, .large = 1}, .cell = {.small = 8, .medium = 0, .large = 8}};
  std::vector<std::vector<Plan>> operations(3, plans({cell_0, cell_1}, "scratch 0 ring small cells 1"));
  const Verdict good = check_sequence(operations, one);
  EXPECT_TRUE(good.ok) << good.text;
  const std::string twice =
      "a: copy input[0..1) -> shared[0]#0[0..1)\nb: publish 0 shared[0]#0[0..1) after a\n"
      "c: copy input[0..1) -> shared[0]#1[0..1)\nd: publish 1 shared[0]#1[0..1) after c\n";
  operations[1] = plans({twice, "a: await 0 0 expects 1\nb: await 0 1 expects 1\n"});
  expect_refused(check_sequence(operations, one), 0, 2, "(all operations started at once)");
  operations[1] = plans({"", "", ""});
  expect_refused(check_sequence(operations, one), 0, Verdict::no_step, "not all of the same group");
}

TEST(Sequence, OperationsOnDifferentRingsDoNotWaitForEachOther) {
  constexpr Board one{.length = {.small = 1, .medium = 64, .large = 1}, .cell = {.small = 8, .medium = 0, .large = 8}};
  const std::vector<std::vector<Plan>> operations = {
      plans({cell_0, cell_1}, "scratch 0 ring small cells 1"), plans({cell_0, cell_1}, "scratch 0 ring large cells 1"),
      plans({"", ""}, "scratch 0 ring small cells 0"), plans({cell_0, cell_1}, "scratch 0 ring small cells 1")};
  const Verdict verdict = check_sequence(operations, one);
  EXPECT_TRUE(verdict.ok) << verdict.text;
}

}  // namespace
}  // namespace tutti::plan
