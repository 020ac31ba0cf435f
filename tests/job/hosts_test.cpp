// SPDX-License-Identifier: BSD-3-Clause
// Groups over several hosts: made inside of one, across all, and between some; ranks dealt in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

#include "job/inproc.hpp"
#include "job/runtime.hpp"
#include "tutti/exchange.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

/// Round-robin, in blocks, one host alone, and one that is larger than all others.
const std::vector<std::vector<Rank>> dealings = {
    {0, 1, 2, 0, 1, 2, 0}, {0, 0, 0, 1, 1, 2, 2}, {0, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4}, {0, 0, 1, 0, 2, 0, 0, 2},
};

class OverHosts : public ::testing::TestWithParam<std::size_t> {
 protected:
  const std::vector<Rank>& hosts() const { return dealings[GetParam()]; }
  Rank size() const { return static_cast<Rank>(hosts().size()); }
  Rank host_of(Rank rank) const { return hosts()[static_cast<std::size_t>(rank)]; }

  /// On fibers by seed, and on threads.
  void run(const std::function<void(const Group&)>& body) const {
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      tutti::job::run_inproc(size(), {.fibers = true, .seed = seed, .hosts = hosts()}, body);
    }
    tutti::job::run_inproc(size(), {.hosts = hosts()}, body);
  }
};

/// Whether every rank of the group finds the sum of all ranks' numbers, several times in a row.
void expect_sums(const Group& group, double mine, double all) {
  for (int i = 0; i < 20; ++i) {
    std::vector<double> in(3, mine), out(3);
    group.allreduce(in, out, tutti::sum);
    ASSERT_EQ(out, std::vector<double>(3, all));
  }
  group.barrier();
}

TEST_P(OverHosts, OneHostIsAGroup) {
  run([&](const Group& world) {
    const Group here = world.split_by_host();
    const Rank host = host_of(world.rank());
    EXPECT_EQ(here.size(), std::ranges::count(hosts(), host));
    EXPECT_EQ(here.rank(), std::count(hosts().begin(), hosts().begin() + world.rank(), host));
    expect_sums(here, host + 1, (host + 1) * here.size());
    expect_sums(world, world.rank(), size() * (size() - 1) / 2);
  });
}

TEST_P(OverHosts, GroupsOverlapHosts) {
  run([&](const Group& world) {
    // Every other rank, backwards, and halves: some inside of a host, some not.
    const Group odd = world.split(world.rank() % 2, -world.rank());
    expect_sums(odd, 1, odd.size());
    const Group half = world.split(world.rank() < size() / 2 ? 0 : 1);
    expect_sums(half, half.rank(), half.size() * (half.size() - 1) / 2);
    const Group none = world.split(world.rank() == 0 ? -1 : 0);
    EXPECT_EQ(static_cast<bool>(none), world.rank() != 0);
    if (none) expect_sums(none, 2, 2 * (size() - 1));
    const Group again = odd.dup();
    expect_sums(again, 3, 3 * again.size());
  });
}

TEST_P(OverHosts, SomeMakeAGroup) {
  run([&](const Group& world) {
    // From the last to the first, without rank 1: its first member is not on the first host, as a rule.
    std::vector<Rank> ranks(static_cast<std::size_t>(size()));
    std::iota(ranks.rbegin(), ranks.rend(), 0);
    std::erase(ranks, 1);
    if (world.rank() == 1) return;
    const Group made = world.create(ranks);
    EXPECT_EQ(ranks[static_cast<std::size_t>(made.rank())], world.rank());
    expect_sums(made, 1, size() - 1);
    const Group inner = made.create(std::vector<Rank>(1, made.rank()));
    expect_sums(inner, 5, 5);
  });
}

TEST_P(OverHosts, AgreeAndShrink) {
  run([&](const Group& world) {
    for (Rank no = 0; no < 3; ++no) {
      EXPECT_TRUE(world.agree(true));
      EXPECT_FALSE(world.agree(world.rank() != no));
    }
    const Group odd = world.split(world.rank() % 2);
    const Group same = odd.shrink();
    EXPECT_EQ(same.rank(), odd.rank());
    EXPECT_TRUE(odd.lost().empty());
    expect_sums(same, 1, odd.size());
    expect_sums(world.shrink(), 2, 2 * size());
  });
}

TEST_P(OverHosts, SparseExchange) {
  run([&](const Group& world) {
    // Everybody sends to the next but one, who does not know.
    const Rank to = (world.rank() + 2) % size();
    const double number = world.rank();
    std::vector<tutti::Parcel<double>> parcels{{to, {&number, 1}}};
    const auto came = tutti::sparse_exchange(world, parcels);
    ASSERT_EQ(came.size(), 1u);
    EXPECT_EQ(came[0].from, (world.rank() + size() - 2) % size());
    EXPECT_EQ(came[0].data, std::vector<double>(1, came[0].from));
  });
}

INSTANTIATE_TEST_SUITE_P(Dealings, OverHosts, ::testing::Range(std::size_t{0}, dealings.size()));

}  // namespace
