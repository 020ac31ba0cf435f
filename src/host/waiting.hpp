// SPDX-License-Identifier: BSD-3-Clause
// Waiting is a policy: spin with a core per rank, yield with more ranks than cores, sleep where foreign load takes the
// core at nearly every yield.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/company.hpp"
#include "host/door.hpp"
#include "host/fence.hpp"
#include "host/futex.hpp"
#include "host/segment.hpp"

namespace tutti::host {

/// How a process waits. One per process; threads share it.
struct Policy {
  std::uint32_t spins = 0;       ///< Polls before the first yield; 0 with more ranks than cores.
  std::uint32_t patience = 0;    ///< With more: polls before a yield where no rank of this core is awaited.
  std::uint64_t yield_for = 0;   ///< Nanoseconds of yielding before the first sleep.
  std::uint64_t long_yield = 0;  ///< Nanoseconds: a yield that takes longer may show foreign load.
  bool foreign = false;          ///< Foreign load was seen a short while ago: sleep at once.
  std::string why;               ///< For `tutti info`.
};

/// How often a waiter looks at slow things: deaths, clocks, mismatches. Also how long it sleeps at most.
inline constexpr std::uint64_t tick_length = 20'000'000;

/// Something else in this process that moves on only when it is asked to, and that others may wait for: the MPI of a
/// program that waits in Tutti.
class Companion {
 public:
  virtual ~Companion() = default;
  /// Moves it on a little. Called by the waiting thread.
  virtual void visit() noexcept = 0;
  /// How long a thread that has waited so long (nanoseconds) may sleep at a time: this cannot ring.
  virtual std::uint64_t longest_sleep(std::uint64_t waited) const {
    return waited < 1'000'000'000 ? 1'000'000 : 10'000'000;
  }
  /// How long (nanoseconds) to yield before the first sleep, or longer.
  virtual std::uint64_t yield_for() const { return 0; }
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

/// Who makes the fences between publishing and going to sleep; proof in waiting.cpp.
enum class Fencing : std::uint32_t {
  publishers,  ///< Everybody makes his own.
  changing,    ///< Publishers make theirs, and sleepers make them for all.
  sleepers,    ///< Sleepers make them for all.
};

/// Where one rank sleeps and is woken; one per rank. All members may be called by any thread of the rank.
class Waiting {
 public:
  Waiting(Segment& segment, Rank world_rank, int cores, int ranks_on_host, Scheduler* scheduler = nullptr);

  /// From now on sleepers of this rank are woken as well when this set of epoll has events: by what comes from other
  /// hosts. Before the first wait; throws Error (system). `ranks_per_core`: where these share the cores of a machine.
  void watch(int set, int ranks_per_core = 1);

  /// How this rank waits now.
  Policy policy() const;
  std::uint64_t now() const;  ///< Nanoseconds; the scheduler's clock under one.

  /// One wait, from the first failed poll to success. Use:
  ///     Waiting::Round round(waiting);
  ///     while (!poll()) if (round.pause(awaited, until)) check();   // true: look at clocks, deaths, mismatches
  /// The sleep itself: announces (full fence), lets the caller poll once more, then waits on the futex. The fence
  /// pairs with the one in `ring`; the proof stands in waiting.cpp.
  class Round {
   public:
    /// `companion`, if any, is visited now and then, and sleep is short.
    explicit Round(Waiting& waiting, Companion* companion = nullptr)
        : waiting_(waiting), companion_(companion), spins_(waiting.spins_now()) {}
    ~Round() {
      if (announced_) waiting_.retract(at_door_);
    }
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;

    /// Waits a little. Returns true when slow checks are due: about every 20 ms, before the first sleep (unless it
    /// comes at once because of foreign load), when `until` has passed, and when a signal ended a sleep.
    /// `awaited` is the world rank whose publishing is awaited, or -1 = anything: a rank that is not awaited does not
    /// wake the sleeper by `ring(members)`. `until`: absolute time of `now()`, or 0.
    bool pause(Rank awaited, std::uint64_t until) {
      // Where it may be the network that is awaited, a core that is kept keeps others from sending.
      if (spins_ == 0 || (awaited < 0 && waiting_.door_ != nullptr)) return pause_slowly(awaited, until);
      --spins_;
      relax();
      return false;
    }

   private:
    bool pause_slowly(Rank awaited, std::uint64_t until);
    bool pause_scheduled(std::uint64_t until);
    bool yield(std::uint64_t now, std::uint64_t until);
    bool sleep(std::uint64_t until);
    int sleep_for(std::uint64_t nanoseconds);
    void announce(Rank awaited);
    bool due(std::uint64_t now, std::uint64_t until);
    std::uint64_t longest_sleep(std::uint64_t now) const;

    Waiting& waiting_;
    Companion* companion_;
    std::uint32_t spins_;       // polls left before anything else is done
    std::uint32_t heard_ = 0;   // bell word before the last poll
    std::uint32_t yields_ = 0;  // under a scheduler: since the last tick
    Rank awaited_ = -1;         // as announced
    bool announced_ = false;
    bool at_door_ = false;  // of the rank's threads that sleep this one hears the sockets
    std::uint64_t started_ = 0, tick_ = 0, visited_ = 0;
  };

  /// Polls that are worth a spin now: none with more ranks than cores, or while foreign load shows.
  std::uint32_t spins_now() const { return foreign_shows() ? 0 : policy_.spins; }

  /// Polls that are worth keeping the core from ranks that all wait as well, for others with other cores: each switch
  /// takes as long as the others need. None where it sleeps at once.
  std::uint32_t patience_now() const { return packed_ || foreign_shows() ? 0 : policy_.patience; }

  /// Gives the core to another process once, for who has just begun to wait and holds no Round yet; false where that is
  /// not the way to wait now.
  bool yield();

  /// This rank could make fences for publishers as well when it goes to sleep.
  bool can_fence_for_all() const { return joined_; }
  /// Every rank of the segment can: from now on publishers make none, unless sleep is frequent.
  void fence_for_all();

  /// After publishing: wakes those of `members` (world ranks as bits) who may sleep for this rank. One load per word,
  /// and a fence where sleepers make none for it, when nobody sleeps.
  void ring(const std::uint64_t* members, int words) {
    if (scheduler_ != nullptr) return scheduler_->happened();
    publisher_fence();  // P2: pairs with the fence in announce.
    for (int i = 0; i < words; ++i)
      if (members[i] != 0) {
        const std::uint64_t asleep =
            members[i] & header_.sleepers[static_cast<std::size_t>(i) % process_words].load(std::memory_order_relaxed);
        if (asleep != 0) wake(asleep, i * 64);
      }
  }
  /// Wakes one process whatever it awaits; after sending it a message, or to stop its own threads' sleep.
  void ring(Rank world_rank);

 private:
  void publisher_fence() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler's part of it, in any case
    // Acquire: pairs with the store in change_fencing, when sleepers have begun to make the fences.
    if (header_.fencing.load(std::memory_order_acquire) != static_cast<std::uint32_t>(Fencing::sleepers)) full_fence();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  // Relaxed: a hint.
  bool foreign_shows() const { return header_.foreign_until.load(std::memory_order_relaxed) != 0; }
  void sleeper_fence() const;
  void change_fencing(Fencing from, Fencing to);
  void announce(Rank awaited);
  void announce_again(Rank awaited);
  void retract(bool at_door);
  bool go_to_door();
  void wake(std::uint64_t asleep, Rank first);
  void wake(Process::Bell& bell);
  bool sleep_at_once(std::uint64_t now);
  bool is_crowded(std::uint64_t now) const;
  void note_yield(std::uint64_t took, std::uint64_t now);
  std::uint64_t yield_from(std::uint64_t now);
  void foreign_seen(const Absence& absence, std::uint64_t now);

  Segment& segment_;
  Header& header_;
  Rank rank_;
  Scheduler* scheduler_;
  Policy policy_;
  const int cores_;
  std::unique_ptr<const Door> door_;        // none: futexes alone
  bool packed_ = false;                     // see base::sleeping_crowd
  const bool joined_;                       // host::join_fences
  std::atomic<bool> fences_agreed_{false};  // all ranks have joined
  std::mutex mutex_;                        // Guards threads_ and the announcement of this rank.
  int threads_ = 0;                         // asleep or about to be; the bell shows others the same
  std::atomic<std::thread::id> only_;       // which, when it announced itself as the only one
  std::atomic<int> probes_left_{0};
  // How long a yield takes, on average; until when this core is taken to have many who want it.
  std::atomic<std::uint64_t> usual_yield_{0}, crowded_until_{0};
  // By when foreign processes last gave this rank's core back: what ranks had used of it, and 1; 0 = they never had it.
  std::atomic<std::uint64_t> foreign_at_{0};
};

}  // namespace tutti::host
