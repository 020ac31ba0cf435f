// SPDX-License-Identifier: BSD-3-Clause
// kill -9 of one rank at a random step, by seed: all others report it within seconds and can go on without it.
// TUTTI_SEED=n runs one seed alone, TUTTI_BASE=n others.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

#include "base/clock.hpp"
#include "job.hpp"
#include "run_seeds.hpp"
#include "scenario.hpp"

namespace {

using tutti::Group;
using tutti::PeerLost;
using tutti::Rank;
using tutti::Request;
using namespace tutti::faults;

constexpr int patience = 20;                    // seconds until the test kills a rank that does not end
constexpr std::uint64_t bound = 5'000'000'000;  // nanoseconds from the blow to everybody's report

/// The body of a rank: works until somebody is lost.
class Worker {
 public:
  Worker(Seat& seat, const Scenario& scenario, const std::vector<tutti::matrix::Case>& cases)
      : seat_(seat), scenario_(scenario), cases_(cases) {
    if (seat.rank() != scenario.victim) return;
    const auto strike = [this] {
      if (chances_++ != scenario_.step) return;
      seat_.await_all_ready();
      seat_.strike_self(SIGKILL);
    };
    if (scenario.blow == Blow::inside_reduction) hooks_.reducing = strike;
    if (scenario.blow == Blow::between_start_and_wait) hooks_.before_wait = strike;
  }

  void run() {
    Group world, half;
    try {
      world = seat_.world();
      if (scenario_.during == During::collectives) half = world.split(world.rank() % 2);
      seat_.ready();
      for (auto random = scenario_.order();;) {
        if (scenario_.during == During::split)
          split(world, random);
        else
          tutti::matrix::run(world, cases_[random.below(cases_.size())], hooks_);
      }
    } catch (const PeerLost& error) {
      seat_.say("lost after " + std::to_string(since_blow()) + ": " + error.what());
    }
    if (world) expect_lost([&] { world.barrier(); }, "the world");
    if (half) go_on(half);
  }

 private:
  std::int64_t since_blow() const {
    const std::uint64_t struck = seat_.shared().struck_at.load(std::memory_order_relaxed);
    return struck == 0 ? -1 : static_cast<std::int64_t>(tutti::base::now() - struck);
  }

  /// Half of the jobs find the loss in the split itself, the others in a group that it has made.
  void split(const Group& world, tutti::base::Random& random) {
    const auto colour = [&](Rank rank) { return static_cast<int>(tutti::base::mix(random.next() + 7 * rank) % 3) - 1; };
    if (scenario_.blow == Blow::between_start_and_wait) {
      Request request = world.ibarrier();
      if (hooks_.before_wait) hooks_.before_wait();
      request.wait();
    }
    int mine = -1;
    for (Rank rank = 0; rank < world.size(); ++rank)
      if (const int one = colour(rank); rank == world.rank()) mine = one;
    const Group part = world.split(mine, -world.rank());
    if (part) part.barrier();
  }

  template <class Call>
  void expect_lost(Call call, const char* which) {
    try {
      call();
      seat_.say(std::string("wrong: ") + which + " works without the lost rank");
    } catch (const PeerLost& error) {
    } catch (const std::exception& error) {
      seat_.say(std::string("wrong: ") + which + " says: " + error.what());
    }
  }

  void go_on(const Group& half) {
    if (half.rank() == 0 && half.size() == 1) return;
    if (scenario_.victim % 2 == seat_.rank() % 2) return expect_lost([&] { half.barrier(); }, "the victim's half");
    for (const auto& one : quick_cases(half.size(), true)) tutti::matrix::run(half, one);
    seat_.say("went on");
  }

  Seat& seat_;
  const Scenario& scenario_;
  const std::vector<tutti::matrix::Case>& cases_;
  tutti::matrix::Hooks hooks_;
  std::uint64_t chances_ = 0;
};

void judge(Job& job, Rank rank, const Scenario& scenario) {
  const std::string& said = job.said(rank);
  const std::string who = "rank " + std::to_string(rank) + " said: " + said;
  EXPECT_EQ(said.rfind("lost after ", 0), 0u) << who;
  if (said.rfind("lost after ", 0) != 0) return;
  const long long took = std::atoll(said.c_str() + 11);
  EXPECT_TRUE(took >= 0 && took < static_cast<long long>(bound)) << who;
  // A group that a split has just made may miss a rank whose own split was struck.
  const bool other_cause = scenario.during == During::split && said.find("has ended without") != std::string::npos;
  const bool named = said.find("(rank " + std::to_string(scenario.victim) + " of the job") != std::string::npos;
  EXPECT_TRUE(named || other_cause) << who;
  EXPECT_EQ(said.find("wrong:"), std::string::npos) << who;
  const bool other_half = scenario.during == During::collectives && scenario.victim % 2 != rank % 2;
  const bool alone = (scenario.size + 1 - rank % 2) / 2 == 1;
  EXPECT_EQ(said.find("went on") != std::string::npos, other_half && !alone) << who;
}

void run(const Scenario& scenario) {
  SCOPED_TRACE(scenario.text());
  const auto cases = scenario.cases();
  ASSERT_FALSE(cases.empty());
  Job job(scenario.size, {.single_copy = scenario.path != Path::messages},
          [&](Seat& seat) { Worker(seat, scenario, cases).run(); });
  if (scenario.during != During::start) {
    EXPECT_TRUE(job.await_ready(patience));
  }
  const bool outside = scenario.blow == Blow::from_outside || scenario.during != During::collectives;
  usleep(static_cast<useconds_t>(scenario.during == During::start ? scenario.delay / 8 : scenario.delay));
  if (outside) job.strike(scenario.victim, SIGKILL);
  // A blow of its own that finds no chance (a reduction that this rank never does) comes from outside after all.
  if (!outside && !job.await_end(scenario.victim, 1, scenario.obituary)) job.strike(scenario.victim, SIGKILL);
  ASSERT_TRUE(job.await_end(scenario.victim, patience, scenario.obituary));
  EXPECT_EQ(job.said(scenario.victim), "") << "the victim";
  for (Rank rank = 0; rank < scenario.size; ++rank) {
    if (rank == scenario.victim) continue;
    EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " hangs";
    judge(job, rank, scenario);
  }
}

/// Who computes and asks now and then learns of it as well as who waits.
TEST(Kill, IsFoundByWhoOnlyTests) {
  for (const bool persistent : {false, true}) {
    SCOPED_TRACE(persistent);
    Job job(3, {}, [persistent](Seat& seat) {
      Group world = seat.world();
      if (seat.rank() == 1) {
        seat.ready();
        for (;;) pause();
      }
      tutti::Persistent again = world.barrier_init();
      Request once;
      persistent ? again.start() : void(once = world.ibarrier());
      seat.ready();
      try {
        while (persistent ? !again.test() : !once.test()) usleep(100);
        seat.say("complete");
      } catch (const PeerLost& error) {
        seat.say("lost " + std::to_string(error.peer()));
      }
    });
    ASSERT_TRUE(job.await_ready(patience));
    job.strike(1, SIGKILL);
    ASSERT_TRUE(job.await_end(1, patience, false));
    for (const Rank rank : {0, 2}) {
      EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " tests for ever";
      EXPECT_EQ(job.said(rank), "lost 1\n") << "rank " << rank;
    }
  }
}

/// Also where the thread between calls never waits for long, since something comes again and again.
TEST(Kill, MakesADescriptorReadableWhileOthersSend) {
  Job job(3, {}, [](Seat& seat) {
    const Group world = seat.world(), pair = world.split(seat.rank() == 1 ? -1 : 0);
    // Ranks that see foreign load sleep at once, and a wait ends with what comes.
    constexpr std::uint64_t always = 100'000'000'000;
    seat.segment().header().foreign_until.store(tutti::base::now() + always, std::memory_order_relaxed);
    const std::vector<int> letter(1);
    Request request = seat.rank() == 1 ? Request() : world.ibarrier();
    const int descriptor = seat.rank() == 0 ? request.fileno() : -1;
    seat.ready();
    if (seat.rank() == 1)
      for (;;) pause();
    if (seat.rank() == 2)
      for (;; usleep(5000)) pair.send(letter, 0);  // nobody receives them
    pollfd readable{descriptor, POLLIN, 0};
    seat.say(poll(&readable, 1, bound / 1'000'000) == 1 ? "readable" : "nothing");
  });
  ASSERT_TRUE(job.await_ready(patience));
  job.strike(1, SIGKILL);
  ASSERT_TRUE(job.await_end(1, patience, false));
  EXPECT_TRUE(job.await_end(0, patience, false));
  EXPECT_EQ(job.said(0), "readable\n");
  EXPECT_TRUE(job.await_end(2, patience, false)) << "it sends to a rank that has ended";
}

TEST(Kill, DuringEveryCollective) { run_seeds(0, 108, During::collectives, run); }
TEST(Kill, DuringSplit) { run_seeds(500, 24, During::split, run); }
TEST(Kill, DuringStart) { run_seeds(600, 24, During::start, run); }

}  // namespace
