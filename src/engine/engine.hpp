// SPDX-License-Identifier: BSD-3-Clause
// One rank's engine: its transport, its channels with operations in flight, waiting, the progress thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/agreements.hpp"
#include "engine/area_writer.hpp"
#include "engine/channel.hpp"
#include "engine/courier.hpp"
#include "host/segment.hpp"
#include "host/waiting.hpp"
#include "host/waits.hpp"
#include "trace/recorder.hpp"
#include "transport/transport.hpp"

namespace tutti::engine {

/// What an engine stands on.
struct Setup {
  std::shared_ptr<host::Segment> segment;  ///< Of this host.
  Rank world_rank = 0;
  int cores = 1;
  bool direct = false;  ///< All ranks share one address space (inproc).
  host::Scheduler* scheduler = nullptr;
  /// Names a Description's algorithm in messages; may be null.
  std::string_view (*algorithm_name)(std::int32_t) = nullptr;
  int ranks_on_host = 0;  ///< That share the cores; 0: all of the segment.
  /// Where each rank of the world is in the segment, -1 for those on other hosts. Empty: each at its own rank.
  std::vector<Rank> places{};
  Caches caches = Caches::measured;
  trace::Recorder* recorder = nullptr;  ///< Notes what this rank does; null: nobody does.
  std::uint64_t timeout = 0;            ///< Nanoseconds that blocking calls may take; 0: any number.

  int ranks_sharing_cores() const { return ranks_on_host > 0 ? ranks_on_host : segment->size(); }
  int ranks_per_core() const { return (ranks_sharing_cores() + cores - 1) / cores; }
  /// A world rank's place in the segment; -1: it is on another host.
  Rank place_of(Rank world) const { return places.empty() ? world : places[static_cast<std::size_t>(world)]; }
};

/// By which a wait is known again when it is told the next time: context, sequence, site, tag, what.
using WaitKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, host::Waited>;

/// Which generation of forks this process is: bumped in every child.
inline std::atomic<std::uint32_t> fork_generation{0};

/// Where the call that this thread is in stands, as far as its language has said it (tutti::CalledAt); else empty. Read
/// when a wait has become long.
std::string_view& calling_place();

/// What that call asks while it waits, null for nothing: true ends the wait with Error (interrupted).
using Interruption = bool (*)();
Interruption& interruption();

/// While it lives, this thread's waits come to their end: for destructors, which must not throw.
class Uninterrupted {
 public:
  Uninterrupted() : before_(std::exchange(interruption(), nullptr)) {}
  ~Uninterrupted() { interruption() = before_; }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  Interruption before_;
};

class Engine {
 public:
  explicit Engine(const Setup& setup);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Given once, before any channel: its wake-ups come from `waiting()`.
  void use(std::unique_ptr<transport::Transport> transport) { transport_ = std::move(transport); }

  /// Given once, before the first wait: waits of the program's own threads visit it, and nobody sleeps longer than it
  /// says while operations are open.
  void accompany(host::Companion& companion) { companion_ = &companion; }

  const Setup& setup() const { return setup_; }
  /// This process's place in the segment.
  Rank place() const { return setup_.place_of(setup_.world_rank); }
  host::Segment& segment() { return *setup_.segment; }
  host::Waiting& waiting() { return waiting_; }
  transport::Transport& transport() { return *transport_; }
  std::mutex& transport_lock() { return transport_lock_; }
  Agreements& agreements() { return agreements_; }
  Courier& courier() { return courier_; }

  /// Waits until the operation is finished or `until` (absolute nanoseconds of waiting().now(); 0 = no limit) has
  /// passed; true when finished.
  bool wait(Operation& operation, std::uint64_t until);
  /// The same also when the engine has been ended meanwhile: for destructors, which must not throw.
  bool wait_to_the_end(Operation& operation, std::uint64_t until = 0);
  /// Waits until one of them is finished: its index, or nothing after `until`.
  std::optional<std::size_t> wait_any(std::span<Operation* const> operations, std::uint64_t until);
  /// Waits until `done` says so, for something that may depend on more than operations; moves everything on meanwhile.
  /// False: the time is over (0: no limit).
  bool wait_for(const std::function<bool()>& done, std::uint64_t until = 0);
  /// One round of progress on everything; true when anything moved.
  bool progress(Rank& awaited);
  /// The same for who comes again and again instead of waiting: as often as a waiter he looks for deaths, broken groups
  /// and mismatches, too.
  void visit();

  /// Starts the progress thread if it does not run. Throws Error (system).
  void start_progress_thread();
  /// From now on there can be none: starting one throws Error (usage) with this text. Before the first start.
  void forbid_progress_thread(std::string why) { no_thread_ = std::move(why); }
  /// Ends it if it runs.
  void stop_progress_thread();
  bool has_progress_thread() const { return threaded_.load(std::memory_order_relaxed); }

  /// A descriptor that becomes readable when the operation is finished.
  int event_of(Operation& operation);

  /// Where in its program the operation is waited for, for `tutti why`; for languages without return addresses.
  void say_place(const Operation& operation, std::string_view place);

  void add(Channel& channel);  ///< The channel has operations that do not complete at once.
  void remove(Channel& channel);

  /// Ends the progress thread, and sees to it that what was sent arrives.
  void leave();
  /// A group has broken: from now on leaving waits for nobody for long. Relaxed: its partner, see_off, looks again.
  void note_broken() { broke_.store(true, std::memory_order_relaxed); }
  /// What this engine stands on goes away: breaks the groups that have operations in flight, waits until nobody is at
  /// their memory any more, leaves, and refuses every later call with this error.
  void end(const Error& error);
  /// Throws Error (usage) in a child of fork: the child is not a member of the job. Throws what the engine was ended
  /// with.
  void check_process() const {
    // Acquire: pairs with the release in end, so that the error is seen.
    if (ended_.load(std::memory_order_acquire) || forked()) refuse_process();
  }
  /// This is such a child: nothing of the engine may be touched, its locks may be held by threads of the parent.
  /// Relaxed: a child sees its parent's last value, and bumps it before anything else runs.
  bool forked() const { return process_ != fork_generation.load(std::memory_order_relaxed); }

 private:
  /// One wait, from the engine's side: does nothing until it has become slow, then tells what it waits for.
  class SlowWait {
   public:
    SlowWait(Engine& engine, std::span<Operation* const> operations) : engine_(engine), operations_(operations) {}
    ~SlowWait();
    SlowWait(const SlowWait&) = delete;
    SlowWait& operator=(const SlowWait&) = delete;
    void tick();

   private:
    friend class Engine;
    void look_for_interruption();
    Engine& engine_;
    std::span<Operation* const> operations_;
    bool noted_ = false;
    std::uint64_t asked_ = 0;  // when the last question was whether the wait is interrupted
  };

  [[noreturn]] void refuse_process() const;
  void see_off();
  void await_failures();
  template <class Done>
  bool wait_until(std::span<Operation* const> operations, Done done, std::uint64_t until);
  void tick();
  bool uninspected() const;
  void inspect();
  void tell();
  void note(SlowWait& wait);
  void end(const SlowWait& wait);
  void progress_loop();
  bool has_open();

  Setup setup_;
  host::Waiting waiting_;
  host::Companion* companion_ = nullptr;
  std::unique_ptr<transport::Transport> transport_;
  std::mutex transport_lock_;
  Courier courier_{*this};
  Agreements agreements_{*this};
  std::mutex channels_lock_;
  std::vector<Channel*> channels_;           // those with operations in flight
  std::atomic<std::uint64_t> inspected_{0};  // when they were looked at last
  std::mutex slow_lock_;                     // guards what follows, and this rank's host::Waits
  SlowOperations slow_;                      // operations that are or were waited for long
  std::map<WaitKey, std::uint64_t> since_;   // of what was told last
  std::atomic<bool> told_{false};            // there is something to take back
  std::atomic<bool> threaded_{false}, stop_{false};
  std::thread thread_;
  std::mutex thread_lock_;
  std::string no_thread_;  // why there can be none
  std::shared_ptr<const Error> end_;
  std::atomic<bool> ended_{false}, broke_{false};
  bool seen_off_ = false;
  std::uint32_t process_ = 0;
};

}  // namespace tutti::engine
