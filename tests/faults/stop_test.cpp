// SPDX-License-Identifier: BSD-3-Clause
// SIGSTOP of one rank at a random step, by seed: the others' waits time out, giving a request up does not hang, and
// everybody learns that the group is broken, also the stopped rank when it goes on. TUTTI_SEED=n runs one seed alone,
// TUTTI_BASE=n others.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "job.hpp"
#include "run_seeds.hpp"
#include "scenario.hpp"

namespace {

using tutti::Cause;
using tutti::Error;
using tutti::Group;
using tutti::Rank;
using tutti::Request;
using namespace tutti::faults;

constexpr int patience = 20;                          // seconds until the test kills a rank that does not end
constexpr std::uint64_t first_timeout = 250'000'000;  // nanoseconds

const char* word_for(const Error& error) {
  if (error.cause() == Cause::timeout) return "timeout";
  if (error.cause() == Cause::broken) return "broken";
  return "wrong";
}

void work(Seat& seat, const Scenario& scenario, const std::vector<tutti::matrix::Case>& cases, std::uint64_t timeout) {
  tutti::matrix::Hooks hooks;
  std::uint64_t chances = 0;
  const auto strike = [&] {
    if (chances++ != scenario.step) return;
    seat.await_all_ready();
    seat.strike_self(SIGSTOP);
  };
  // Before that the blow comes from outside; then the others may be gone and never be ready.
  const bool victim = seat.rank() == scenario.victim && scenario.during == During::collectives;
  if (victim && scenario.blow == Blow::inside_reduction) hooks.reducing = strike;
  if (victim && scenario.blow == Blow::between_start_and_wait) hooks.before_wait = strike;
  hooks.limit = tutti::Duration(timeout);
  Group world;
  try {
    world = seat.world();
    seat.ready();
    for (auto random = scenario.order();;)
      if (scenario.during == During::split)
        world.split(static_cast<int>(random.below(2)), world.rank());
      else
        tutti::matrix::run(world, cases[random.below(cases.size())], hooks);
  } catch (const Error& error) {
    seat.say(std::string("first ") + word_for(error) + ": " + error.what());
  }
  if (!world) return;  // it was never made
  try {
    // A blocking call that timed out has given its request up before it threw, as all the others here.
    world.barrier();
    seat.say("then wrong: the group works");
  } catch (const Error& error) {
    seat.say(std::string("then ") + word_for(error) + ": " + error.what());
  }
}

/// False when this machine is so busy that a rank timed out before anybody was stopped.
bool run(const Scenario& scenario, std::uint64_t timeout) {
  SCOPED_TRACE(scenario.text());
  const auto cases = scenario.cases();
  EXPECT_FALSE(cases.empty());
  Job job(scenario.size, {.single_copy = scenario.path != Path::messages, .timeout = timeout},
          [&](Seat& seat) { work(seat, scenario, cases, timeout); });
  const bool at_start = scenario.during == During::start;
  if (!at_start && !job.await_ready(2)) return false;
  usleep(static_cast<useconds_t>(at_start ? scenario.delay / 8 : scenario.delay));
  if (scenario.blow == Blow::from_outside || scenario.during != During::collectives)
    job.strike(scenario.victim, SIGSTOP);
  else
    usleep(100'000), job.strike(scenario.victim, SIGSTOP);  // it may have no chance to do it itself
  for (Rank rank = 0; rank < scenario.size; ++rank)
    if (job.said(rank) != "" && job.blow_is_fresh(timeout)) return false;
  int timeouts = 0;
  for (Rank rank = 0; rank < scenario.size; ++rank) {
    if (rank == scenario.victim) continue;
    EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " hangs";
    const std::string& said = job.said(rank);
    const std::string who = "rank " + std::to_string(rank) + " said: " + said;
    const bool timed_out = said.rfind("first timeout", 0) == 0;
    timeouts += timed_out ? 1 : 0;
    EXPECT_TRUE(timed_out || said.rfind("first broken", 0) == 0) << who;
    EXPECT_TRUE(at_start || said.find("then broken") != std::string::npos) << who;
  }
  EXPECT_GT(timeouts, 0);
  job.send(scenario.victim, SIGCONT);
  EXPECT_TRUE(job.await_end(scenario.victim, patience, false)) << "the stopped rank hangs when it goes on";
  EXPECT_EQ(job.said(scenario.victim).rfind("first wrong", 0), std::string::npos) << job.said(scenario.victim);
  EXPECT_TRUE(at_start || job.said(scenario.victim).find("then broken") != std::string::npos)
      << job.said(scenario.victim);
  return true;
}

/// With more and more time, until a machine that is busy with other things lets see who waits for whom.
void run_with_time(const Scenario& scenario) {
  std::uint64_t timeout = first_timeout;
  while (!run(scenario, timeout) && timeout < 100 * first_timeout) timeout *= 3;
  EXPECT_LT(timeout, 100 * first_timeout) << "the machine is too busy to tell who waits for whom";
}

TEST(Stop, DuringEveryCollective) { run_seeds(0, 36, During::collectives, run_with_time); }
TEST(Stop, DuringSplit) { run_seeds(500, 8, During::split, run_with_time); }
TEST(Stop, DuringStart) { run_seeds(600, 8, During::start, run_with_time); }

/// What the program has blocked stays pending: the library's own threads do not take it.
TEST(Stop, NotByASignalThatTheProgramHasBlocked) {
  Job job(2, {}, [](Seat& seat) {
    const Group world = seat.world();
    Request request = world.ibarrier();
    request.fileno();  // starts the progress thread
    sigset_t blocked, pending;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    if (seat.rank() == 0) kill(getpid(), SIGTERM);
    request.wait();
    sigpending(&pending);
    seat.say(sigismember(&pending, SIGTERM) != 0 ? "pending" : "nothing");
  });
  for (const Rank rank : {0, 1}) {
    EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " hangs";
    EXPECT_EQ(job.said(rank), rank == 0 ? "pending\n" : "nothing\n") << "rank " << rank;
  }
}

}  // namespace
