// SPDX-License-Identifier: BSD-3-Clause
// Waiting as Python needs it: without the GIL, in slices, so that Ctrl-C and other threads work.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "prepared.hpp"
#include "tutti/persistent.hpp"
#include "tutti/request.hpp"

namespace tutti::python {

/// Seconds as Python passes them; none: no limit.
using Seconds = std::optional<double>;

/// Seconds that a blocking call on this group may take; nothing: no limit.
Seconds time_limit(const Group& group);

/// A request that is given up with its holder, unless it has ended.
struct Pending {
  Request request;
  explicit Pending(Request started) : request(std::move(started)) {}
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending();
};

/// Waits for a request with the GIL held on entry and exit. Throws Timeout, what the operation failed with, and what a
/// signal handler raised (KeyboardInterrupt): the request is then still pending, to be waited for again or given up.
void wait(Request& request, Seconds timeout);

/// The same for a prepared call's: what its reduction raised goes before what the operation failed with because of it.
void wait(Request& request, const Prepared& prepared, Seconds timeout);

/// Like the C++ destructor of a request, which waits for it or gives it up, but with the GIL held: ending an operation
/// can need other threads. Ctrl-C ends the wait, and the request is given up. An exception that is on its way, which
/// may be why the request is dropped, stays so.
void drop(Request& request, bool given_up);

/// Throws Error (usage) for what is no time to wait for.
void expect_time(Seconds timeout);

/// Whether a request is to be left as it is: its program ends with it pending, and it is lost.
bool is_left(const Request& request);
/// Keeps for ever what the engine may still write to, or read.
template <class... Things>
void leave(Things... things) {
  static_cast<void>(std::make_unique<std::tuple<Things...>>(std::move(things)...).release());
}

/// One at a time: waiting lets other threads and signal handlers run, and they may ask for the same request.
class Turn {
 public:
  class Hold {
   public:
    /// With the GIL. Throws Error (usage) while it is held.
    explicit Hold(Turn& turn);
    Hold(Hold&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    Turn* turn_;
  };

 private:
  bool taken_ = false;
};

/// A started operation in Python's hands: it keeps its buffers alive until it is complete.
class Started {
 public:
  Started(Request request, std::unique_ptr<Prepared> prepared, nanobind::object result);
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started();

  /// The result, once complete; what the operation failed with, each time it is asked.
  nanobind::object wait(Seconds timeout);
  bool test();
  int fileno();

  /// The place of the first that is complete; requests.size() when none is pending.
  static std::size_t wait_any(const std::vector<Started*>& started, Seconds timeout);

 private:
  template <class Work>
  void settle(Work work);

  nanobind::object result_;
  std::unique_ptr<Prepared> prepared_;  // none once complete
  std::exception_ptr failure_;
  Turn turn_;
  bool given_up_ = false;  // a time-out or a signal ended a wait: dropping it does not block
  Pending pending_;        // last: its operation ends before its buffers go
};

/// A persistent collective in Python's hands: it keeps its buffers alive.
class Repeated {
 public:
  /// `limit`: seconds that a `run` may take.
  Repeated(Persistent persistent, std::unique_ptr<Prepared> prepared, nanobind::object result, Seconds limit);
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated();

  void start();
  /// The result, once complete; what the last start failed with, each time it is asked.
  nanobind::object wait(Seconds timeout);
  /// start and wait in one.
  nanobind::object run(Seconds timeout);
  bool test();
  int fileno();

 private:
  template <class Work>
  void settle(Work work);
  // With the turn held.
  void start_now();
  nanobind::object wait_now(Seconds timeout);

  nanobind::object result_;
  std::unique_ptr<Prepared> prepared_;
  std::exception_ptr failure_;  // of what was started last
  Seconds limit_;
  Turn turn_;
  bool given_up_ = false;  // a time-out or a signal ended the last wait: dropping it does not block
  Persistent persistent_;  // last: its operation ends before its buffers go
};

/// A blocking call. What a time-out or a signal cuts short is given up.
void run(const Group& group, const Prepared& prepared);
/// `blocks`: it is waited for at once.
std::unique_ptr<Started> start(const Group& group, std::unique_ptr<Prepared> prepared, nanobind::object result,
                               bool blocks = false);
std::unique_ptr<Repeated> init(const Group& group, std::unique_ptr<Prepared> prepared, nanobind::object result);

}  // namespace tutti::python
