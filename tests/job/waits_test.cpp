// SPDX-License-Identifier: BSD-3-Clause
// Waiting for several requests with a limit: once it is over, giving all of them up takes no time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "job/inproc.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

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
      given_up.store(true, std::memory_order_release);  // pairs with the acquire below
      return;
    }
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!given_up.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(given_up.load(std::memory_order_acquire));
    for (const Group& group : groups) EXPECT_THROW(group.barrier(), Error);
  });
}

TEST(Waits, WhatWaitAnyHadNoTimeForIsGivenUp) {
  expect_all_given_up([](std::vector<Request>& requests) { wait_any(requests, 20ms); });
}

TEST(Waits, WhatWaitAllHadNoTimeForIsGivenUp) {
  expect_all_given_up([](std::vector<Request>& requests) { wait_all(requests, 20ms); });
}

}  // namespace
}  // namespace tutti
