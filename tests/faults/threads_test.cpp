// SPDX-License-Identifier: BSD-3-Clause
// Threads of one rank: waiting elsewhere than starting, two that start at once, the progress thread, many requests in
// flight in any order of completion; and reduction functions that throw or wait.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "base/random.hpp"
#include "job/inproc.hpp"

namespace {

using tutti::Cause;
using tutti::Error;
using tutti::Group;
using tutti::Rank;
using tutti::Request;
using tutti::job::run_inproc;
using namespace std::chrono_literals;

std::int64_t sum_of_ranks(Rank size) { return std::int64_t{size} * (size - 1) / 2; }

TEST(Threads, ARequestIsWaitedForByAnotherThread) {
  run_inproc(3, {}, [](const Group& world) {
    for (int i = 0; i < 50; ++i) {
      const std::int64_t in = world.rank();
      std::int64_t out = -1;
      Request request = world.iallreduce(std::span(&in, 1), std::span(&out, 1), tutti::sum);
      std::jthread([&request] { request.wait(); }).join();
      ASSERT_EQ(out, sum_of_ranks(3));
    }
  });
}

TEST(Threads, OneStartsWhileAnotherWaits) {
  run_inproc(3, {}, [](const Group& world) {
    std::vector<std::int64_t> in(100), out(100, -1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = world.rank() + static_cast<std::int64_t>(i);
    std::vector<Request> requests(in.size());
    std::atomic<std::size_t> started{0};
    std::jthread waiter([&] {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        while (started.load(std::memory_order_acquire) <= i) std::this_thread::yield();  // partner: the store below
        requests[i].wait();
      }
    });
    for (std::size_t i = 0; i < in.size(); ++i) {
      requests[i] = world.iallreduce(std::span(&in[i], 1), std::span(&out[i], 1), tutti::sum);
      started.store(i + 1, std::memory_order_release);
    }
    waiter.join();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], sum_of_ranks(3) + 3 * static_cast<std::int64_t>(i));
  });
}

/// A reduction that stays inside its call until it is told to go on.
struct Gate {
  std::atomic<bool> inside{false}, open{false};
  std::int64_t operator()(std::int64_t a, std::int64_t b) {
    inside.store(true, std::memory_order_release);  // partner: the second thread
    while (!open.load(std::memory_order_acquire)) std::this_thread::yield();
    return a + b;
  }
};

TEST(Threads, TwoThatStartAtOnceAreRefused) {
  std::atomic<bool> partner_started{false};
  run_inproc(2, {}, [&](const Group& world) {
    auto gate = std::make_shared<Gate>();
    const auto gated = tutti::op([gate](std::int64_t a, std::int64_t b) { return (*gate)(a, b); });
    const std::int64_t in = 1;
    std::int64_t out = 0;
    if (world.rank() == 1) {
      gate->open = true;
      // Straight to rank 0, which finds it there and combines inside its own start.
      Request request = world.ireduce(std::span(&in, 1), std::span(&out, 1), gated, 0, {"board"});
      request.wait();
      partner_started.store(true, std::memory_order_release);
      world.barrier();
      return;
    }
    while (!partner_started.load(std::memory_order_acquire)) std::this_thread::yield();
    std::jthread starter([&] { world.reduce(std::span(&in, 1), std::span(&out, 1), gated, 0, {"board"}); });
    while (!gate->inside.load(std::memory_order_acquire)) std::this_thread::yield();
    try {
      world.barrier();
      ADD_FAILURE() << "two threads started";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::usage) << error.what();
      EXPECT_NE(std::string(error.what()).find("two threads"), std::string::npos) << error.what();
    }
    gate->open.store(true, std::memory_order_release);
    starter.join();
    EXPECT_EQ(out, 2);
    world.barrier();  // the refused call has not been counted
  });
}

TEST(Threads, ADescriptorBecomesReadableWithoutAnyCall) {
  std::atomic<bool> looked{false};
  run_inproc(2, {}, [&](const Group& world) {
    if (world.rank() == 1) {
      while (!looked.load(std::memory_order_acquire)) std::this_thread::sleep_for(1ms);  // partner: the store below
      return world.barrier();
    }
    Request request = world.ibarrier();
    pollfd ready{request.fileno(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 0), 0) << "readable before the other rank came";
    looked.store(true, std::memory_order_release);
    EXPECT_EQ(poll(&ready, 1, 20'000), 1);
    EXPECT_TRUE(request.test());
  });
}

TEST(Threads, RequestsOfManyGroupsCompleteInAnyOrder) {
  run_inproc(4, {}, [](const Group& world) {
    tutti::base::Random random(tutti::base::mix(static_cast<std::uint64_t>(world.rank())));
    std::vector<Group> groups;
    for (int i = 0; i < 12; ++i)
      groups.push_back(i % 3 == 0 ? world.dup() : world.split(world.rank() % 2, world.rank()));
    constexpr std::size_t each = 24;  // more than a ring has cells
    std::vector<std::int64_t> in(groups.size() * each), out(in.size(), -1);
    std::vector<Request> requests;
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<std::int64_t>(i);
      requests.push_back(groups[i % groups.size()].iallreduce(std::span(&in[i], 1), std::span(&out[i], 1), tutti::sum));
    }
    std::vector<bool> seen(in.size());
    std::size_t left = in.size();
    while (left > in.size() / 4) {
      const std::size_t at = random.below(requests.size());
      switch (random.below(4)) {
        case 0:
          if (requests[at] && requests[at].test()) --left;
          break;
        case 1:
          if (requests[at] && requests[at].wait_for(1ms)) --left;
          break;
        case 2:
          if (const std::size_t found = tutti::wait_any(requests); found < requests.size()) --left;
          break;
        default:
          try {
            if (tutti::wait_any(requests, 1us) < requests.size()) --left;
          } catch (const tutti::Timeout&) {
          }
      }
    }
    tutti::wait_all(requests);
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], in[i] * groups[i % groups.size()].size()) << "request " << i;
  });
}

/// A function that throws on one rank: there it is the error, on the others the group is broken; nobody hangs.
void throwing(const tutti::job::InprocOptions& options, const char* algorithm, std::size_t count) {
  const Rank thrower = std::string(algorithm) == "reduce_bcast" ? 0 : 1;  // one that combines
  std::atomic<int> told{0};
  run_inproc(3, options, [&](const Group& world) {
    const auto moody = tutti::op([throws = world.rank() == thrower](std::int64_t a, std::int64_t b) {
      if (throws) throw std::runtime_error("this rank does not like these numbers");
      return a + b;
    });
    const std::vector<std::int64_t> in(count, 1);
    std::vector<std::int64_t> out(count);
    try {
      world.allreduce(in, out, moody, {algorithm});
      world.barrier();
      ADD_FAILURE() << "nothing was thrown on rank " << world.rank();
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::broken) << error.what();
      EXPECT_EQ(std::string(error.what()).find("does not like") != std::string::npos, world.rank() == thrower)
          << error.what();
      EXPECT_EQ(error.peer(), thrower) << error.what();
      ++told;
    }
    EXPECT_THROW(world.barrier(), Error);
  });
  EXPECT_EQ(told, 3);
}

TEST(Reduction, ThatThrowsBreaksTheGroup) {
  for (const char* algorithm : {"", "ring", "recursive_doubling", "reduce_bcast"})
    for (const std::size_t count : {std::size_t{3}, std::size_t{5000}}) {
      SCOPED_TRACE(std::string(algorithm) + " " + std::to_string(count));
      throwing({}, algorithm, count);
      for (const std::uint64_t seed : {0, 1, 2}) throwing({.fibers = true, .seed = seed}, algorithm, count);
    }
}

TEST(Reduction, MayNotCallItsOwnGroup) {
  run_inproc(2, {}, [&](const Group& world) {
    const auto nosy = tutti::op([&world](std::int64_t a, std::int64_t b) {
      world.barrier();
      return a + b;
    });
    const std::int64_t in = 1;
    std::int64_t out = 0;
    try {
      world.allreduce(std::span(&in, 1), std::span(&out, 1), nosy);
      world.barrier();
      ADD_FAILURE() << "a reduction called a collective of its own group";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::broken) << error.what();
    }
  });
}

}  // namespace
