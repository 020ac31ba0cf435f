// SPDX-License-Identifier: BSD-3-Clause
// Waiting for several requests with a limit: once it is over, giving all of them up takes no time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "job/runtime.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// The other rank has said so.
void expect_soon(const std::atomic<bool>& said) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (!said.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(said.load(std::memory_order_acquire));
}

/// Rank 0 waits for barriers of two groups that the other calls only when they have been given up, and by then finds
/// both groups broken.
void expect_all_given_up(const std::function<void(std::vector<Request>&)>& wait) {
  std::atomic<bool> given_up = false;
  job::run_inproc(2, {}, [&](const Group& world) {
    const Group groups[] = {world.dup(), world.dup()};
    if (world.rank() == 0) {
      {
        std::vector<Request> requests;
        for (const Group& group : groups) requests.push_back(group.ibarrier());
        EXPECT_THROW(wait(requests), Timeout);
      }
      given_up.store(true, std::memory_order_release);  // pairs with the acquire in expect_soon
      return;
    }
    expect_soon(given_up);
    for (const Group& group : groups) EXPECT_THROW(group.barrier(), Error);
  });
}

TEST(Waits, WhatWaitAnyHadNoTimeForIsGivenUp) {
  expect_all_given_up([](std::vector<Request>& requests) { wait_any(requests, 20ms); });
}

TEST(Waits, WhatWaitAllHadNoTimeForIsGivenUp) {
  expect_all_given_up([](std::vector<Request>& requests) { wait_all(requests, 20ms); });
}

TEST(Waits, WaitAllTellsOfAFailureAfterATimeOut) {
  std::atomic<bool> timed_out = false;
  job::run_inproc(2, {}, [&](const Group& world) {
    const Group broken = world.dup(), late = world.dup();
    int one = 1;
    if (world.rank() == 1) {
      EXPECT_THROW(broken.bcast(std::span(&one, 1), 0), Mismatch);
      expect_soon(timed_out);
      return late.barrier();
    }
    std::vector<Request> requests;
    requests.push_back(broken.ibarrier());
    requests.push_back(late.ibarrier());
    EXPECT_THROW(wait_all(requests, 200ms), Timeout);
    timed_out.store(true, std::memory_order_release);  // pairs with the acquire in expect_soon
    EXPECT_THROW(wait_all(requests), Mismatch);
    EXPECT_FALSE(requests[0] || requests[1]);
  });
}

TEST(Waits, WhoIsLostCanBeAskedDuringAnAgreement) {
  std::atomic<bool> asked = false;
  job::run_inproc(2, {}, [&](const Group& world) {
    if (world.rank() == 1) {
      expect_soon(asked);
      EXPECT_TRUE(world.agree(true));
      return;
    }
    std::thread agreeing([&] { EXPECT_TRUE(world.agree(true)); });
    for (int i = 0; i < 100; ++i) {
      EXPECT_NO_THROW(EXPECT_TRUE(world.lost().empty()));
      std::this_thread::sleep_for(1ms);
    }
    asked.store(true, std::memory_order_release);  // pairs with the acquire in expect_soon
    agreeing.join();
  });
}

/// As MPI_Finalize ends it, while another rank writes what this one has opened.
TEST(Waits, EndWithAnEngineWhenNobodyIsAtTheirMemory) {
  job::run_inproc(2, {}, [](const Group& world) {
    if (world.rank() != 0) return;
    constexpr std::size_t count = 1 << 16;
    const std::vector<double> mine(count);
    std::vector<double> all(2 * count);
    Request request = world.igather(mine, all, 0, {.algorithm = "single_copy_shared"});
    engine::Channel& channel = world.member()->channel();
    std::atomic<std::int32_t>& touching = channel.board().member(1).touching;
    touching.store(0, std::memory_order_seq_cst);  // what rank 1 says while it writes
    std::atomic<bool> over = false;
    std::thread end([&] {
      channel.engine().end(Error(Cause::broken, "MPI has gone"));
      over.store(true, std::memory_order_release);  // pairs with the acquire below
    });
    std::this_thread::sleep_for(100ms);
    EXPECT_FALSE(over.load(std::memory_order_acquire)) << "it would free the memory";
    touching.store(-1, std::memory_order_seq_cst);
    end.join();
    EXPECT_NE(refusal([&] { request.wait(); }, Cause::broken).find("MPI has gone"), std::string::npos);
  });
}

}  // namespace
}  // namespace tutti
