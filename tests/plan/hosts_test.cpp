// SPDX-License-Identifier: BSD-3-Clause
// Plans of ranks on several hosts: cells and rings belong to one host, messages go anywhere.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "plan/checker.hpp"
#include "plan/svg.hpp"
#include "plan/text.hpp"

namespace tutti::plan {
namespace {

/// One rank's plan: what it takes of the board, and its steps.
struct Text {
  std::string cells, steps;
};

std::vector<Plan> plans(std::initializer_list<Text> ranks) {
  std::vector<Plan> all;
  for (const Text& text : ranks)
    all.push_back(parse("rank " + std::to_string(all.size()) + " of " + std::to_string(ranks.size()) +
                        " scratch 1 ring " + text.cells + "\n" + text.steps));
  return all;
}

Board on(std::span<const Rank> hosts, std::int32_t ring = 4) {
  return {.length = {ring, 64, ring}, .cell = {8, 0, 8}, .hosts = hosts};
}

void expect_refused(const Verdict& verdict, Rank rank, const std::string& reason) {
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.rank, rank) << verdict.text;
  EXPECT_NE(verdict.text.find(reason), std::string::npos) << verdict.text;
}

/// Rank 0's element goes by message to rank 1 on the next host, and by cell from each of them to the other of its host.
std::vector<Plan> bcast() {
  return plans({{"small cells 1",
                 "a: send input[0..1) to 1 #0\nb: copy input[0..1) -> shared[0]#0[0..1)\n"
                 "c: publish 0 shared[0]#0[0..1) after b\n"},
                {"large cells 2",
                 "a: recv 1 from 0 #0 -> output[0..1)\nb: copy output[0..1) -> shared[1]#1[0..1) after a\n"
                 "c: publish 1 shared[1]#1[0..1) after b\n"},
                {"small cells 1", "a: await 0 0 expects 1\nb: copy shared[0]#0[0..1) -> output[0..1) after a\n"},
                {"large cells 2", "a: await 1 1 expects 1\nb: copy shared[1]#1[0..1) -> output[0..1) after a\n"}});
}

constexpr Rank dealt[] = {0, 1, 0, 1};

Contract promise() {
  Contract contract;
  for (Rank rank = 0; rank < 4; ++rank) {
    contract.ranks.push_back({1, 1, {{Buffer::input, 0, 1, {{rank, 0}}}}, {{Buffer::output, 0, 1, {{0, 0}}}}});
    if (rank == 0) contract.ranks.back().after.clear();
  }
  return contract;
}

TEST(Hosts, MayTakeDifferentCells) {
  const Verdict verdict = check(bcast(), promise(), on(dealt));
  EXPECT_TRUE(verdict.ok) << verdict.text;
  expect_refused(check(bcast(), promise(), on({})), 1, "but rank 0 takes 1 of the small ring");
  std::vector<Plan> more = bcast();
  more[3].cells = 3;
  expect_refused(check(more, promise(), on(dealt)), 3, "but rank 1 takes 2 of the large ring");
  EXPECT_NE(draw(bcast(), dealt).find("</svg>"), std::string::npos);
}

TEST(Hosts, AreNumberedInTheOrderOfTheirLowestRanks) {
  const std::vector<Plan> none = plans({{"small cells 0", ""}, {"small cells 0", ""}, {"small cells 0", ""}});
  for (const auto& [hosts, rank] : {std::pair<std::vector<Rank>, Rank>{{1, 0, 0}, 0}, {{0, 2, 1}, 1}, {{0, 0, -1}, 2}})
    expect_refused(check_user(none, on(hosts)), rank, "numbered from 0 in the order of their lowest ranks");
  expect_refused(check_user(none, on(std::span(dealt))), 0, "the hosts of 4 ranks are given for 3");
  const Rank right[] = {0, 1, 0};
  EXPECT_TRUE(check_user(none, on(right)).ok);
}

TEST(Hosts, ShareNoCells) {
  const auto refused = [](const std::string& steps) {
    const Rank apart[] = {0, 1};
    const std::vector<Plan> two = plans({{"small cells 1", "p: publish 0 input[0..1)\n"}, {"small cells 1", steps}});
    expect_refused(check_user(two, on(apart)), 1, "rank 0 is on another host");
  };
  refused("a: await 0 0 expects 1\n");
  refused("a: copy shared[0]#0[0..1) -> output[0..1)\n");
  refused("a: copy exposed[0]#0[0..1) -> output[0..1)\n");
}

TEST(Hosts, EveryoneIsEveryoneOnTheHost) {
  const Text first{"small cells 1", "a: publish 0 shared[0]#0[0..0)\nb: await all 0 expects 0\n"};
  const Text second{"small cells 1", "a: publish 0 shared[2]#0[0..0)\nb: await all 0 expects 0\n"};
  const std::vector<Plan> apart = plans({first, {"small cells 0", ""}, second});
  const Rank hosts[] = {0, 1, 0};
  const Verdict verdict = check_user(apart, on(hosts));
  EXPECT_TRUE(verdict.ok) << verdict.text;
  Contract barrier;
  barrier.ranks.resize(3);
  barrier.synchronizes = true;
  expect_refused(check(apart, barrier, on(hosts)), 0, "it can be done before rank 1 has started");
}

/// Rank 0 writes two cells of a ring of one: the other rank of its host must have released the first one, rank 2 need
/// not, which waits for rank 0's last message.
TEST(Hosts, ReleaseForTheirOwnRanksAlone) {
  const Text writer{"small cells 2",
                    "a: copy input[0..1) -> shared[0]#0[0..1)\nb: publish 0 shared[0]#0[0..1) after a\n"
                    "r: release 0 after b\nc: copy input[0..1) -> shared[0]#1[0..1)\n"
                    "d: publish 1 shared[0]#1[0..1) after c\ne: send input[0..1) to 2 #0 after d\n"};
  const std::string reads = "a: await 0 0 expects 1\nb: copy shared[0]#0[0..1) -> scratch[0..1) after a\n";
  const Text elsewhere{"small cells 1", "a: recv 1 from 0 #0 -> output[0..1)\n"};
  const Rank apart[] = {0, 0, 1}, together[] = {0, 0, 0};
  const std::vector<Plan> good = plans({writer, {"small cells 2", reads + "r: release 0 after b\n"}, elsewhere});
  const Verdict verdict = check_user(good, on(apart, 1));
  EXPECT_TRUE(verdict.ok) << verdict.text;
  const std::vector<Plan> never = plans({writer, {"small cells 2", reads}, elsewhere});
  EXPECT_TRUE(check_user(never, on(apart, 2)).ok);
  // Its completion releases the first cell: nothing on its host keeps that from coming.
  EXPECT_TRUE(check_user(never, on(apart, 1)).ok);
  const std::string later = reads + "c: await 0 1 expects 1\n";
  expect_refused(check_user(plans({writer, {"small cells 2", later}, elsewhere}), on(apart, 1)), 0, "deadlock");
  std::vector<Plan> all = good;
  all[2].cells = 2;
  expect_refused(check_user(all, on(together, 1)), 0, "the completion of rank 2");
}

/// Host 1 has taken no cells by the time that host 0 has gone around its ring; and one whose plans stand still on one
/// host alone is found.
TEST(Hosts, HaveRingsOfTheirOwn) {
  const auto pair = [](Rank a, Rank b, const std::string& of_b) {
    const std::string owner = std::to_string(a), reader = std::to_string(b);
    return std::pair<Text, Text>{
        {"small cells 1",
         "a: copy input[0..1) -> shared[" + owner + "]#0[0..1)\nb: publish 0 shared[" + owner + "]#0[0..1) after a\n"},
        {"small cells 1", "a: await " + owner + " 0 expects 1\n" + of_b}};
  };
  const auto [write_0, read_0] = pair(0, 1, "");
  const auto [write_2, read_2] = pair(2, 3, "");
  const Rank hosts[] = {0, 0, 1, 1};
  const Text none{"small cells 0", ""};
  std::vector<std::vector<Plan>> operations;
  for (int n = 0; n < 6; ++n)
    operations.push_back(n % 3 == 2 ? plans({write_0, read_0, write_2, read_2}) : plans({write_0, read_0, none, none}));
  const Verdict verdict = check_sequence(operations, on(hosts, 2));
  EXPECT_TRUE(verdict.ok) << verdict.text;
  // Rank 3 gives its cell back only with a message that rank 2 sends after writing the next one.
  const Text twice{"small cells 2",
                   "a: copy input[0..1) -> shared[2]#0[0..1)\nb: publish 0 shared[2]#0[0..1) after a\n"
                   "c: copy input[0..1) -> shared[2]#1[0..1) after b\nd: publish 1 shared[2]#1[0..1) after c\n"
                   "e: send input[0..1) to 3 #0 after d\n"};
  const Text waits{"small cells 2",
                   "a: await 2 0 expects 1\nb: recv 1 from 2 #0 -> output[0..1)\nr: release 0 after a b\n"};
  operations.push_back(plans({write_0, read_0, twice, waits}));
  EXPECT_TRUE(check_sequence(operations, on(hosts, 8)).ok);
  expect_refused(check_sequence(operations, on(hosts, 1)), 2, "deadlock");
}

}  // namespace
}  // namespace tutti::plan
