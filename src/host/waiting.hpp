// SPDX-License-Identifier: BSD-3-Clause
// Waiting is a policy: spin with a core per rank, yield with more ranks than cores, sleep as soon as foreign load
// shows.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "host/segment.hpp"

namespace tutti::host {

/// How a process waits. One per process; threads share it.
struct Policy {
  int spins = 0;         ///< Polls before the first yield; 0 with more ranks than cores.
  int yields = 0;        ///< Yields before the first sleep.
  bool foreign = false;  ///< Foreign load was seen a short while ago: sleep at once.
  std::string why;       ///< For `tutti info`.
};

/// Something to do instead of going to the operating system: the deterministic scheduler of inproc switches to another
/// rank here. nullptr in real processes.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Called by a rank that has nothing to do; returns when it may poll again.
  virtual void yield() = 0;
  /// Something was published or sent (Waiting::ring calls it): the clock need not jump, nobody is deadlocked yet.
  virtual void happened() {}
  /// A clock that tests can control, in nanoseconds.
  virtual std::uint64_t now() = 0;
};

/// Where one rank sleeps and is woken. All members may be called by any thread of the rank.
class Waiting {
 public:
  Waiting(Segment& segment, Rank world_rank, int cores, int ranks_on_host, Scheduler* scheduler = nullptr);

  const Policy& policy() const { return policy_; }
  std::uint64_t now() const;  ///< Nanoseconds; the scheduler's clock under one.

  /// One wait, from the first failed poll to success. Use:
  ///     Waiting::Round round(waiting, deadline);
  ///     while (!poll()) if (round.pause(awaited)) check();   // true: a slow tick: look at clocks, deaths, mismatches
  /// The sleep itself: announces (seq_cst fence), lets the caller poll once more, then waits on the futex. The fence
  /// pairs with the one in `ring`.
  class Round {
   public:
    explicit Round(Waiting& waiting);
    ~Round();
    /// Waits a little. Returns true about every 20 ms and before the first sleep, when slow checks are due.
    /// `awaited` is the world rank whose publishing is awaited, or -1 = anything. `until`: absolute time or 0.
    bool pause(Rank awaited, std::uint64_t until);

   private:
    Waiting& waiting_;
    std::uint32_t polls_ = 0;
    std::uint32_t heard_ = 0;  // bell word before the last poll
    bool announced_ = false;
    std::uint64_t started_ = 0, tick_ = 0;
  };

  /// After publishing: wakes those of `members` (world ranks as bits) who may sleep for `self`. One fence and one load
  /// when nobody sleeps.
  void ring(const std::uint64_t* members, int words);
  /// Wakes one process; after sending it a message, or to stop its own threads' sleep.
  void ring(Rank world_rank);

 private:
  Segment& segment_;
  Rank rank_;
  Scheduler* scheduler_;
  Policy policy_;
  std::atomic<std::uint64_t> foreign_until_{0};
};

}  // namespace tutti::host
