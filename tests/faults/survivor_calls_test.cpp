// SPDX-License-Identifier: BSD-3-Clause
// agree and shrink, case by case, by real processes: nobody left, nobody lost, several groups, a rank that is stopped,
// calls that do not match.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "inside.hpp"
#include "job.hpp"
#include "matrix/processes.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Group;
using tutti::PeerLost;
using tutti::Rank;
using namespace tutti::faults;

/// On one host, and on three.
class SurvivorCalls : public ::testing::TestWithParam<bool> {
 protected:
  std::vector<std::string> run(Rank size, const std::function<void(const Group&)>& body) const {
    std::vector<Rank> hosts;
    for (Rank rank = 0; GetParam() && rank < size; ++rank) hosts.push_back(rank % 3);
    return tutti::matrix::run_processes(size, {.hosts = size > 1 ? hosts : std::vector<Rank>()}, 60, body);
  }
  static void expect_well(const std::vector<std::string>& said, const std::vector<Rank>& dead = {}) {
    for (Rank rank = 0; rank < static_cast<Rank>(said.size()); ++rank)
      EXPECT_EQ(said[static_cast<std::size_t>(rank)],
                std::ranges::find(dead, rank) != dead.end() ? "killed by signal 9" : "")
          << "rank " << rank;
  }
};

TEST_P(SurvivorCalls, NobodyIsLost) {
  for (const Rank size : {1, 2, 5}) {
    SCOPED_TRACE(size);
    expect_well(run(size, [](const Group& world) {
      for (int i = 0; i < 50; ++i) {
        expect(world.agree(true), "all say yes");
        expect(!world.agree(world.rank() != i % world.size()), "one says no");
      }
      expect(world.lost().empty(), "nobody is lost");
      const Group same = world.reproducible().shrink();
      expect(same.size() == world.size() && same.rank() == world.rank(), "the same group");
      expect(same.is_reproducible(), "made from a reproducible one");
      expect(sum(same, 1) == world.size() && sum(world, 2) == 2 * world.size(), "both work");
    }));
  }
}

TEST_P(SurvivorCalls, OneIsLeft) {
  expect_well(run(5,
                  [](const Group& world) {
                    // All are connected: of one who was never reached nobody can say for certain that it is no more.
                    std::vector<Rank> to(5), from(5);
                    world.alltoall(to, from, {.algorithm = "pairwise"});
                    world.agree(true);
                    if (world.rank() != 3) kill(getpid(), SIGKILL);
                    expect(world.agree(true), "its own word");
                    expect(world.lost() == std::vector<Rank>{0, 1, 2, 4}, "all others are lost");
                    const Group alone = world.shrink();
                    expect(alone.size() == 1 && sum(alone, 7) == 7, "a group of one");
                    expect(alone.agree(true) && alone.shrink().size() == 1, "it agrees with itself");
                  }),
              {0, 1, 2, 4});
}

/// The rows and the columns of a grid of 3 x 3 lose two ranks; each rank mends both of its groups, then the world.
TEST_P(SurvivorCalls, GroupsThatOverlap) {
  const std::vector<Rank> dead = {4, 8};
  expect_well(run(9,
                  [&](const Group& world) {
                    const Group row = world.split(world.rank() / 3), column = world.split(world.rank() % 3);
                    sum(row, 1), sum(column, 1);
                    world.agree(true);  // all are through
                    if (std::ranges::find(dead, world.rank()) != dead.end()) kill(getpid(), SIGKILL);
                    const auto mend = [](const Group& group) {
                      const Group left = group.shrink();
                      expect(sum(left, 1) == left.size(), "a mended group works");
                      return left.size();
                    };
                    const auto lost_of = [&](Rank line, auto line_of) {
                      return std::ranges::count_if(dead, [&](Rank one) { return line_of(one) == line; });
                    };
                    expect(mend(row) == 3 - lost_of(world.rank() / 3, [](Rank one) { return one / 3; }), "the row");
                    expect(mend(column) == 3 - lost_of(world.rank() % 3, [](Rank one) { return one % 3; }),
                           "the column");
                    expect(mend(world) == 7, "the world");
                  }),
              dead);
}

/// All groups made from a mended one know hosts as before, and break and are mended in their turn.
TEST_P(SurvivorCalls, AgainAndAgain) {
  expect_well(run(6,
                  [](const Group& world) {
                    Group group = world;
                    for (const Rank next : {0, 5, 2}) {
                      group.agree(true);  // all are through
                      if (world.rank() == next) kill(getpid(), SIGKILL);
                      try {
                        for (;;) group.barrier();
                      } catch (const PeerLost&) {
                      }
                      group = group.shrink();
                      const Group here = group.split_by_host();
                      expect(sum(here, 1) == here.size() && here.size() <= group.size(), "those on one host");
                      expect(sum(group.dup(), 1) == group.size(), "a copy");
                    }
                    expect(group.size() == 3, "three are left");
                  }),
              {0, 2, 5});
}

TEST_P(SurvivorCalls, CallsThatDoNotMatch) {
  expect_well(run(3, [](const Group& world) {
    try {
      world.rank() == 1 ? static_cast<void>(world.shrink()) : static_cast<void>(world.agree(true));
      throw std::runtime_error("it went unnoticed");
    } catch (const tutti::Mismatch&) {
    }
    expect(world.agree(true), "the next agreement is sound");
  }));
}

INSTANTIATE_TEST_SUITE_P(Hosts, SurvivorCalls, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Three" : "One"; });

/// A stopped rank is not lost: the others wait for it as long as they may, and then again.
TEST(SurvivorCalls, AStoppedRankIsWaitedFor) {
  constexpr int size = 3;
  Job job(size, {.timeout = 700'000'000}, [](Seat& seat) {
    const Group world = seat.world();
    sum(world, 1);
    seat.ready();
    if (seat.rank() == 1) return seat.strike_self(SIGSTOP), expect(world.agree(true), "it comes late");
    for (bool late = false;;) try {
        expect(world.agree(true), "all say yes");
        return expect(late && world.lost().empty(), "it waits, and nobody is lost");
      } catch (const tutti::Timeout& error) {
        if (late) continue;
        late = true;
        seat.say(error.what());
      }
  });
  ASSERT_TRUE(job.await_ready(20));
  sleep(2);
  job.send(1, SIGCONT);
  for (Rank rank = 0; rank < size; ++rank) EXPECT_TRUE(job.await_end(rank, 20, false)) << "rank " << rank << " hangs";
  EXPECT_NE(job.said(0).find("agree on group world did not complete in time: it waits for rank 1"), std::string::npos)
      << job.said(0);
  EXPECT_EQ(job.said(1), "");
  EXPECT_NE(job.said(2).find("did not complete in time"), std::string::npos) << job.said(2);
}

}  // namespace
