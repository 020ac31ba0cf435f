// SPDX-License-Identifier: BSD-3-Clause
#include "engine/courier.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "engine/engine.hpp"

namespace tutti::engine {
namespace {

using namespace std::chrono_literals;

/// Between its looks. What it waits for is a peer that comes late, or takes little at a time.
constexpr auto shortest_nap = 1ms, longest_nap = 8ms;

}  // namespace

void Courier::see_off() {
  const std::lock_guard lock(engine_.transport_lock());
  if (awake_ || stopped_ || engine_.transport().has_left()) return;
  try {
    if (!thread_.joinable()) thread_ = base::quiet_thread([this] { run(); }, "messages to peers that come late");
  } catch (const Error& error) {
    stopped_ = true;
    base::log(std::string(error.what()) + ". They go on at the next call");
    return;
  }
  awake_ = true;
  changed_.notify_one();
}

void Courier::stop() {
  {
    const std::lock_guard lock(engine_.transport_lock());
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Courier::abandon() {
  if (thread_.joinable()) thread_.detach();
}

void Courier::run() {
  std::unique_lock lock(engine_.transport_lock());
  auto nap = shortest_nap;
  while (!stopped_) {
    if (engine_.transport().has_left()) {
      awake_ = false;
      changed_.wait(lock, [this] { return awake_ || stopped_; });
      nap = shortest_nap;
    }
    changed_.wait_for(lock, nap, [this] { return stopped_; });
    nap = std::min(2 * nap, longest_nap);
    // What has come is for threads that may sleep until somebody says so.
    if (!stopped_ && engine_.transport().progress()) engine_.waiting().ring(engine_.place());
  }
}

}  // namespace tutti::engine
