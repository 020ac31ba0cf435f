// SPDX-License-Identifier: BSD-3-Clause
// A job of real processes in which one is struck: killed or stopped, by itself or from outside.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "job/runtime.hpp"
#include "tutti/group.hpp"

namespace tutti::faults {

/// Memory that the test and its processes share beside the library's own.
struct Shared {
  std::atomic<std::uint64_t> struck_at{0};  ///< base::now() right before the blow; 0 = not yet.
  std::atomic<int> ready{0};                ///< Ranks that may be struck.
};

struct JobOptions {
  bool single_copy = true;
  std::uint64_t timeout = 0;  ///< Of blocking calls, in nanoseconds.
};

/// What the body of a process works with.
class Seat {
 public:
  Rank rank() const { return rank_; }
  Shared& shared() const { return *shared_; }
  host::Segment& segment() const { return *segment_; }
  Group world();
  /// From now on a rank may be struck from outside.
  void ready() { shared_->ready.fetch_add(1, std::memory_order_relaxed); }
  /// Returns when all ranks have called ready(). A blow before that also takes the groups that others still make: the
  /// board of a broken group fails all that is pending.
  void await_all_ready() const;
  /// Notes the time and raises the signal against this very process.
  void strike_self(int signal);
  /// One line for the test.
  void say(const std::string& line) const;

 private:
  friend class Job;
  Rank rank_ = 0;
  std::shared_ptr<host::Segment> segment_;
  host::Offset board_ = 0;
  JobOptions options_;
  Shared* shared_ = nullptr;
  int words_ = -1;
  std::shared_ptr<job::Member> member_;
};

class Job {
 public:
  /// Forks the processes. Each runs `body`, says what it throws, leaves the job in order and ends.
  Job(int size, const JobOptions& options, const std::function<void(Seat&)>& body);
  /// Kills what still runs.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// False when the ranks are not ready in time.
  bool await_ready(int seconds);
  /// Notes the time and sends the signal, unless the rank was struck already.
  void strike(Rank rank, int signal);
  void send(Rank rank, int signal) { kill(rank, signal); }
  /// Less time has passed since the blow than a wait takes to give up.
  bool blow_is_fresh(std::uint64_t nanoseconds) const;
  /// Waits until the rank has ended and does what a launcher does: an obituary for one that was killed, also before it
  /// came. `obituary`: also for one that the others can find dead by themselves. False after so many seconds.
  bool await_end(Rank rank, int seconds, bool obituary);
  /// All lines that the rank has said; complete once it has ended.
  const std::string& said(Rank rank);
  Shared& shared() { return *shared_; }

 private:
  struct Process {
    pid_t pid = -1;
    base::Descriptor words;
    std::string said;
    int status = 0;
    bool ended = false;
  };
  void kill(Rank rank, int signal);

  std::shared_ptr<host::Segment> segment_;
  Shared* shared_;
  std::vector<Process> processes_;
};

/// Names in /dev/shm, and whether this process has children: what nobody may leave behind.
std::vector<std::string> left_in_shared_memory();
bool has_children();
/// Grandchildren whose parent has died become children of this process, where `has_children` finds them.
void adopt_orphans();

}  // namespace tutti::faults
