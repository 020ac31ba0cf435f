// SPDX-License-Identifier: BSD-3-Clause
// A group's lock word: who starts operations, who moves them on.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace tutti::engine {

/// Guards all state of one channel. Starting takes it as `starter`, so that a second starter is found and refused;
/// waiting and the progress thread take it as `mover` and give way.
class LockWord {
 public:
  /// False when another thread is just starting an operation on the same group, or when `give_up` says so while
  /// operations are moved on.
  template <class GiveUp>
  bool lock_to_start(GiveUp give_up) {
    for (;;) {
      std::uint32_t seen = free_word;
      // Acquire: pairs with the release in unlock, so that the state behind the lock is seen.
      if (word_.compare_exchange_weak(seen, starter, std::memory_order_acquire, std::memory_order_relaxed)) return true;
      if (seen == starter) return false;
      if (seen != mover) continue;
      if (give_up()) return false;
      sched_yield();
    }
  }
  bool try_lock() {
    std::uint32_t seen = free_word;
    return word_.compare_exchange_strong(seen, mover, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock() {
    while (!try_lock()) sched_yield();
  }
  void unlock() { word_.store(free_word, std::memory_order_release); }

 private:
  static constexpr std::uint32_t free_word = 0, starter = 1, mover = 2;
  std::atomic<std::uint32_t> word_{free_word};
};

}  // namespace tutti::engine
