// SPDX-License-Identifier: BSD-3-Clause
// One thread that waits for descriptors and points in time, and sleeps in between.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/descriptor.hpp"

namespace tutti::launch {

class Loop {
 public:
  using Handler = std::function<void(std::uint32_t events)>;
  using Action = std::function<void()>;
  /// A point in time and a number that tells equal ones apart.
  using Timer = std::pair<std::uint64_t, std::uint64_t>;

  Loop();
  /// Calls the handler whenever the descriptor shows one of the epoll events (level-triggered). Watching a watched one
  /// changes its events and handler. False for what cannot be waited for (a regular file is always ready).
  bool watch(int descriptor, std::uint32_t events, Handler handler);
  /// Must be called before the descriptor is closed; no effect on one that is not watched.
  void unwatch(int descriptor);

  Timer after(std::chrono::nanoseconds delay, Action action);
  void cancel(Timer timer) { timers_.erase(timer); }

  /// Readable when a turn would call a handler at once; timers do not show here.
  int descriptor() const { return epoll_.get(); }
  /// Waits once and calls whatever is due.
  void turn() {
    wait();
    call_due();
  }
  /// The two halves: only the second touches what is watched.
  void wait() const;
  void call_due();

 private:
  struct Watch {
    std::uint32_t generation;
    Handler handler;
  };
  int until_next_timer() const;
  void call_due_timers();

  base::Descriptor epoll_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::map<Timer, Action> timers_;
  std::uint32_t generation_ = 0;
  std::uint64_t timer_number_ = 0;
};

}  // namespace tutti::launch
