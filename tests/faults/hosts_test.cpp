// SPDX-License-Identifier: BSD-3-Clause
// A group over several hosts breaks for all of its members, also for those that hear of it from others alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "inside.hpp"
#include "matrix/processes.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti::faults;

using tutti::Cause;
using tutti::Group;
using tutti::Rank;

/// Three hosts, with two, two and one rank.
const std::vector<Rank> hosts = {0, 0, 1, 1, 2};

class BrokenOverHosts : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> run(const std::function<void(const Group&)>& body) const {
    return tutti::matrix::run_processes(5, {.algorithms = GetParam(), .hosts = hosts}, 60, body);
  }
};

/// The error that the call ends with; throws where it does not, or not so.
std::string failure(Cause cause, const std::function<void()>& call) {
  try {
    call();
  } catch (const tutti::Error& error) {
    if (error.cause() == cause) return error.what();
    throw std::runtime_error(std::string("another cause: ") + error.what());
  }
  throw std::runtime_error("it did not fail");
}

void expect_well(const std::vector<std::string>& said, Rank dead = -1) {
  for (Rank rank = 0; rank < 5; ++rank)
    EXPECT_EQ(said[static_cast<std::size_t>(rank)], rank == dead ? "killed by signal 9" : "") << "rank " << rank;
}

TEST_P(BrokenOverHosts, EverybodyLearnsOfADeath) {
  for (const Rank victim : {4, 2, 0}) {
    SCOPED_TRACE(victim);
    const auto said = run([&](const Group& world) {
      const Group here = world.split_by_host();
      for (int i = 0; i < 3; ++i) expect(sum(world, 1) == 5, "a sum before");
      const std::string text = failure(Cause::peer_lost, [&] {
        sum(world, 1);  // others may still be inside when the victim has its result
        if (world.rank() == victim) kill(getpid(), SIGKILL);
        for (;;) world.barrier();
      });
      expect(text.find("rank " + std::to_string(victim) + " of group world") != std::string::npos, text);
      expect(failure(Cause::peer_lost, [&] { sum(world, 1); }) != "", "the group stays broken");
      // Without the victim's host, groups go on.
      if (hosts[static_cast<std::size_t>(world.rank())] != hosts[static_cast<std::size_t>(victim)])
        expect(sum(here, 2) == 2 * here.size(), "a sum on one host");
    });
    expect_well(said, victim);
  }
}

TEST_P(BrokenOverHosts, EverybodyLearnsOfAMismatch) {
  for (const Rank wrong : {4, 1}) {
    SCOPED_TRACE(wrong);
    expect_well(run([&](const Group& world) {
      const std::string text = failure(Cause::mismatch, [&] {
        sum(world, 1);  // some may still be inside when others have found what comes next
        std::vector<double> data(world.rank() == wrong ? 3 : 4), all(data.size());
        world.allreduce(data, all, tutti::sum);
        world.barrier();
      });
      expect(text.find(" called allreduce") != std::string::npos, text);
    }));
  }
}

/// Each waits for the other: no message shows that they do not mean the same.
TEST_P(BrokenOverHosts, CallsThatWaitForEachOtherAreFound) {
  for (const Rank wrong : {4, 2}) {
    SCOPED_TRACE(wrong);
    expect_well(run([&](const Group& world) {
      double data[2] = {}, all[2] = {};
      const std::string text = failure(Cause::mismatch, [&] {
        sum(world, 1);
        if (world.rank() == wrong)
          world.bcast(std::span<double>(data), 0, {.algorithm = "binomial"});
        else
          world.allreduce(std::span<const double>(data), std::span(all), tutti::sum, {.algorithm = "reduce_bcast"});
      });
      // Who found it knows both calls, and the others hear of one.
      expect(text.find(" called allreduce") != std::string::npos || text.find(" called bcast") != std::string::npos,
             text);
      expect(text.find("#2") != std::string::npos, text);
    }));
  }
}

/// It has not called what the others have, and that is no mismatch.
TEST_P(BrokenOverHosts, WhoIsLateIsWaitedFor) {
  expect_well(run([&](const Group& world) {
    for (int i = 0; i < 3; ++i) {
      // So long that the others ask.
      if (world.rank() == i) std::this_thread::sleep_for(std::chrono::milliseconds(400));
      world.barrier({.algorithm = "tree"});
      expect(sum(world, 1) == 5, "a sum");
    }
  }));
}

TEST_P(BrokenOverHosts, EverybodyLearnsThatOneGivesUp) {
  expect_well(run([&](const Group& world) {
    const Group pair = world.split(world.rank() == 0 || world.rank() == 4 ? 0 : -1);
    if (world.rank() == 4) {
      double in = 1, out = 0;
      tutti::Request request = world.iallreduce(std::span(&in, 1), std::span(&out, 1), tutti::sum);
      failure(Cause::timeout, [&] { request.wait(std::chrono::milliseconds(50)); });
    } else if (world.rank() == 0) {
      sleep(1);  // it comes when the group is broken
      failure(Cause::broken, [&] { world.barrier(); });
    } else {
      failure(Cause::broken, [&] { sum(world, 1); });
    }
    if (pair) expect(sum(pair, 1) == 2, "a group of two of them");
  }));
}

/// Who computes and asks now and then: of a death, and of one who gives up.
TEST_P(BrokenOverHosts, WhoOnlyTestsLearnsOfIt) {
  for (const Rank victim : {-1, 4, 2, 0}) {
    SCOPED_TRACE(victim);
    const auto said = run([&](const Group& world) {
      failure(victim < 0 ? Cause::broken : Cause::peer_lost, [&] {
        sum(world, 1);  // others may still be inside when the victim has its result
        if (world.rank() == victim) kill(getpid(), SIGKILL);
        if (victim < 0 && world.rank() == 1) sleep(1);  // it comes when the group is broken
        tutti::Request request = world.ibarrier();
        if (victim < 0 && world.rank() == 3) {
          failure(Cause::timeout, [&] { request.wait(std::chrono::milliseconds(50)); });
          request = tutti::Request();  // gives it up
          request = world.ibarrier();
        }
        while (!request.test()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      });
    });
    expect_well(said, victim);
  }
}

/// Each comes when those before it have returned: what they have sent waits for a connection, which takes two.
TEST(AfterACall, WhoComputesHoldsUpNobody) {
  constexpr int size = 4;
  const auto work = std::chrono::seconds(6);
  const auto said = tutti::matrix::run_processes(size, {.hosts = {0, 1, 2, 3}}, 60, [&](const Group& world) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300) * world.rank());
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> data(1, world.rank() == 0 ? 7 : 0), letter(1, 8);
    world.bcast(data, 0, {.algorithm = "chain"});
    if (world.rank() == 0) world.send(letter, size - 1);
    if (world.rank() == size - 1) world.recv(letter, 0);
    const auto took = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(work);
    expect(data.front() == 7 && letter.front() == 8, "what was sent");
    expect(took < work / 2, "nobody waits for who computes");
    expect(sum(world, 1) == size, "a sum after");
  });
  for (const std::string& one : said) EXPECT_EQ(one, "");
}

/// What was agreed on goes although more is on its way than the connection takes.
TEST(AfterACall, WhoComputesHoldsUpNoAgreement) {
  const auto work = std::chrono::seconds(6);
  const auto said = tutti::matrix::run_processes(2, {.hosts = {0, 1}}, 60, [&](const Group& world) {
    std::vector<double> data(std::size_t{16} << 20);
    tutti::Request moves = world.rank() == 0 ? world.isend(data, 1) : world.irecv(data, 0);
    const auto start = std::chrono::steady_clock::now();
    const bool agreed = world.agree(true);
    const auto took = std::chrono::steady_clock::now() - start;
    if (world.rank() == 0) std::this_thread::sleep_for(work);
    expect(agreed, "what all have said");
    expect(took < work / 2, "nobody waits for who computes");
    moves.wait();
  });
  for (const std::string& one : said) EXPECT_EQ(one, "");
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BrokenOverHosts,
                         ::testing::Values("", "barrier=dissemination allreduce=recursive_doubling"));

}  // namespace
