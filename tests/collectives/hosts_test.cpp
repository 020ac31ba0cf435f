// SPDX-License-Identifier: BSD-3-Clause
// Who shares a host, who leads it, and which algorithms may be used then.
#include "collectives/hosts.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "problems.hpp"

namespace tutti::collectives {
namespace {

std::vector<Rank> list(std::span<const Rank> ranks) { return {ranks.begin(), ranks.end()}; }

TEST(Hosts, HaveTheirRanksInOrder) {
  const Rank places[] = {0, 1, 0, 2, 1, 0};
  const Shape shape{.rank = 4, .size = 6, .hosts = places};
  const Hosts hosts(shape);
  EXPECT_EQ(hosts.count(), 3);
  EXPECT_EQ(list(hosts.ranks(0)), (std::vector<Rank>{0, 2, 5}));
  EXPECT_EQ(list(hosts.here()), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(list(hosts.all()), (std::vector<Rank>{0, 2, 5, 1, 4, 3}));
  EXPECT_EQ(hosts.mine(), 1);
  EXPECT_EQ(hosts.leaders(), (std::vector<Rank>{0, 1, 3}));
  EXPECT_EQ(hosts.leaders(5), (std::vector<Rank>{5, 1, 3})) << "the root leads its host";
  EXPECT_FALSE(hosts.contiguous());
  EXPECT_FALSE(hosts.even());
}

TEST(Hosts, AreOneWhenNoneAreGiven) {
  const Shape shape{.rank = 1, .size = 3};
  const Hosts hosts(shape);
  EXPECT_EQ(hosts.count(), 1);
  EXPECT_EQ(list(hosts.here()), (std::vector<Rank>{0, 1, 2}));
  EXPECT_TRUE(hosts.contiguous());
  EXPECT_TRUE(hosts.even());
}

TEST(Hosts, DecideWhatApplies) {
  const Rank one[] = {0, 0, 0, 0}, blocks[] = {0, 0, 1, 1}, around[] = {0, 1, 0, 1}, uneven[] = {0, 0, 0, 1},
             each[] = {0, 1, 2, 3};
  const auto with = [](Needs needs, std::span<const Rank> hosts, bool commutative = true, Count cell = 8) {
    const Algorithm algorithm{Kind::allreduce, "test", "Test.", needs, nullptr};
    return applies(algorithm, {.size = 4, .commutative = commutative, .hosts = hosts, .cell = {.small = cell}}, false);
  };
  for (const auto& hosts : {std::span<const Rank>(), std::span<const Rank>(one)}) {
    EXPECT_TRUE(with({.board = true}, hosts));
    EXPECT_FALSE(with({.hosts = true}, hosts)) << "that is what the board is for";
  }
  for (const auto& hosts : {std::span(blocks), std::span(around), std::span(uneven)}) {
    EXPECT_TRUE(with({}, hosts));
    EXPECT_FALSE(with({.board = true}, hosts)) << "not all share a board";
    EXPECT_TRUE(with({.hosts = true}, hosts));
    EXPECT_FALSE(with({.hosts = true}, hosts, true, 0)) << "no cells";
  }
  EXPECT_FALSE(with({.hosts = true}, each)) << "nobody shares a host";
  EXPECT_TRUE(with({}, each));
  EXPECT_TRUE(with({.hosts = true, .even_hosts = true}, around));
  EXPECT_FALSE(with({.hosts = true, .even_hosts = true}, uneven));
  EXPECT_TRUE(with({.hosts = true, .contiguous = true}, uneven));
  EXPECT_FALSE(with({.hosts = true, .contiguous = true}, around));
  EXPECT_TRUE(with({.hosts = true, .contiguous_or_commutative = true}, around));
  EXPECT_FALSE(with({.hosts = true, .contiguous_or_commutative = true}, around, false));
  EXPECT_TRUE(with({.hosts = true, .contiguous_or_commutative = true}, blocks, false));
}

/// Where ranks are dealt round the hosts, a leader has a copy for each pair of ranks on two hosts: 70 000 here each
/// way, in an order that cuts each buffer anywhere. (Ranges that move: half a minute.)
TEST(Hosts, ManyThatRanksAreDealtRoundMakeNoLongerPlanThanTheirSteps) {
  const std::vector<Rank> around = deal(1536, 32, Deal::around);
  const Shape shape{.rank = 0, .size = 1536, .count = 1, .hosts = around, .cell = {12, 0, 8192}};
  const std::clock_t begun = std::clock();
  const plan::Plan plan = find(Kind::alltoall, "hosts")->build(shape);
  EXPECT_LT((std::clock() - begun) / CLOCKS_PER_SEC, 4) << "seconds of processor time";
  EXPECT_GE(std::ranges::count(plan.steps, plan::Verb::copy, &plan::Step::verb), 2 * 48 * 48 * 31);
}

TEST(Hosts, AreNumberedByTheirLowestRankHoweverTheyAreDealt) {
  base::Random random(1);
  for (int n = 0; n < 400; ++n) {
    const auto size = static_cast<Rank>(1 + n % 20);
    Rank next = 0;
    for (const Rank host : n < 200 ? deal(size, static_cast<Rank>(1 + n % 7), static_cast<Deal>(n % deals))
                                   : random_hosts(size, random)) {
      ASSERT_LE(host, next);
      next = std::max(next, host + 1);
    }
  }
}

}  // namespace
}  // namespace tutti::collectives
