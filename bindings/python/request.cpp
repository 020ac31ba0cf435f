// SPDX-License-Identifier: BSD-3-Clause
#include "request.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "place.hpp"
#include "tutti/error.hpp"

namespace tutti::python {

namespace nb = nanobind;

namespace {

// Long enough to cost nothing, short enough for a person at the keyboard.
constexpr Duration turn = std::chrono::milliseconds(50);

Duration limit(double seconds) {
  if (std::isnan(seconds)) throw Error(Cause::usage, "the timeout is not a number; pass seconds, or None for no limit");
  constexpr double most = 1e9;  // thirty years, in seconds
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::clamp(seconds, 0.0, most)));
}

/// Calls `step(time)` without the GIL until it returns true; `expire` when the time is over. Throws what a signal
/// handler has raised, and then leaves the requests alone: how they end is told by whoever asks for them next. After
/// each step in vain, the requests are told where in the program they are waited for.
template <class Step, class Expire>
void in_turns(std::span<const Request> requests, Seconds timeout, Step step, Expire expire) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> until;
  if (timeout) until = Clock::now() + limit(*timeout);
  while (true) {
    const Duration left = until ? std::max<Duration>(*until - Clock::now(), Duration(0)) : turn;
    bool done = false;
    {
      const WithoutGil released;
      done = step(std::min(left, turn));
    }
    if (done) return;
    const std::string where = place();
    for (const Request& request : requests) request.say_place(where);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (until && Clock::now() >= *until) return expire();
  }
}

/// Runs `work` on the request of a prepared call: what its reduction raised goes before the error that came of it.
template <class Work>
auto raised_first(const Request& request, const Prepared& prepared, Work work) {
  try {
    return work();
  } catch (const Error&) {
    if (!request) prepared.rethrow();
    throw;
  }
}

}  // namespace

Turn::Hold::Hold(Turn& turn) : turn_(&turn) {
  if (std::exchange(turn.taken_, true)) {
    throw Error(Cause::usage,
                "this request is being waited for, by another thread or below a signal handler; wait for it or test it "
                "at one place at a time");
  }
}

Turn::Hold::~Hold() {
  if (turn_ != nullptr) turn_->taken_ = false;
}

Pending::~Pending() { drop(request, true); }

void expect_time(Seconds timeout) {
  if (timeout) static_cast<void>(limit(*timeout));
}

bool is_left(const Request& request) { return request && is_ending(); }

Seconds time_limit(const Group& group) {
  const std::optional<Duration> limit = group.time_limit();
  return limit ? Seconds(std::chrono::duration<double>(*limit).count()) : std::nullopt;
}

void wait(Request& request, Seconds timeout) {
  in_turns(
      {&request, 1}, timeout, [&](Duration time) { return request.wait_for(time); },
      [&] {
        const WithoutGil released;
        request.wait(Duration(0));
      });
}

void wait(Request& request, const Prepared& prepared, Seconds timeout) {
  raised_first(request, prepared, [&] { wait(request, timeout); });
}

void drop(Request& request, bool given_up) {
  if (!request) return;
  const nb::error_scope on_its_way;  // reductions are Python functions
  try {
    if (!given_up) python::wait(request, std::nullopt);
  } catch (nb::python_error& raised) {
    raised.discard_as_unraisable("a tutti.Request that was dropped while pending");
  } catch (const Error&) {
    // Whoever drops a request does not want to know.
  }
  const WithoutGil released;
  try {
    // A wait without time tells the request that somebody gave up: its destructor then does not block.
    request.wait(Duration(0));
  } catch (const Error&) {
    // It has failed, or is given up in the next line.
  }
  request = Request();
}

Started::Started(Request request, std::unique_ptr<Prepared> prepared, nb::object result)
    : result_(std::move(result)), prepared_(std::move(prepared)), pending_(std::move(request)) {}

Started::~Started() {
  if (is_left(pending_.request)) {
    leave(std::move(pending_.request), std::move(prepared_));
    return;
  }
  drop(pending_.request, given_up_);
}

/// Runs `work`, which may end the operation one way or the other, and remembers how it ended.
template <class Work>
void Started::settle(Work work) {
  if (failure_) throw_again(failure_);
  if (!prepared_) return;
  try {
    raised_first(pending_.request, *prepared_, work);
  } catch (...) {
    if (!pending_.request) {
      failure_ = std::current_exception();
      prepared_.reset();
      throw_again(failure_);
    }
    given_up_ = true;
    throw;
  }
  if (!pending_.request) prepared_.reset();
}

nb::object Started::wait(Seconds timeout) {
  const Turn::Hold mine(turn_);
  expect_time(timeout);
  settle([&] { python::wait(pending_.request, timeout); });
  return result_;
}

bool Started::test() {
  const Turn::Hold mine(turn_);
  settle([&] {
    const WithoutGil released;
    pending_.request.test();
  });
  return !pending_.request;
}

int Started::fileno() {
  const Turn::Hold mine(turn_);
  const WithoutGil released;
  return pending_.request.fileno();
}

std::size_t Started::wait_any(const std::vector<Started*>& started, Seconds timeout) {
  expect_time(timeout);
  std::vector<Turn::Hold> ours;
  for (Started* one : started) ours.emplace_back(one->turn_);
  std::vector<Request> requests;
  for (Started* one : started) requests.push_back(std::move(one->pending_.request));
  std::size_t found = requests.size();
  std::exception_ptr raised;
  const auto look = [&](Duration time) {
    try {
      found = tutti::wait_any(requests, time);
      return true;
    } catch (const Timeout&) {
      return false;
    }
  };
  try {
    in_turns(requests, timeout, look, [&] {
      const WithoutGil released;
      found = tutti::wait_any(requests, Duration(0));
    });
  } catch (...) {
    raised = std::current_exception();
  }
  for (std::size_t i = 0; i < started.size(); ++i) started[i]->pending_.request = std::move(requests[i]);
  for (std::size_t i = 0; i < started.size(); ++i) {
    // The one that has become empty is the one that ended, well or not.
    if (!started[i]->prepared_ || started[i]->pending_.request) continue;
    started[i]->settle([&] {
      if (raised) std::rethrow_exception(raised);
    });
    return i;
  }
  if (!raised) return found;
  // None has ended: a time-out or a signal has ended the wait for all of them.
  for (Started* one : started) one->given_up_ = one->given_up_ || one->pending_.request;
  std::rethrow_exception(raised);
}

Repeated::Repeated(Persistent persistent, std::unique_ptr<Prepared> prepared, nb::object result, Seconds limit)
    : result_(std::move(result)), prepared_(std::move(prepared)), limit_(limit), persistent_(std::move(persistent)) {}

Repeated::~Repeated() {
  if (is_left(persistent_.request())) {
    leave(std::move(persistent_), std::move(prepared_));
    return;
  }
  drop(persistent_.request(), given_up_);
  const WithoutGil released;
  persistent_ = Persistent();
}

void Repeated::start() {
  const Turn::Hold mine(turn_);
  start_now();
}

void Repeated::start_now() {
  say_call(false);
  if (!persistent_.pending()) {
    prepared_->forget_raised();
    failure_ = nullptr;
  }
  {
    const WithoutGil released;
    persistent_.start();
  }
  given_up_ = false;
}

/// Remembers how it ended, as Started's: a wait_all that then runs out of time has to hear of it again.
template <class Work>
void Repeated::settle(Work work) {
  if (failure_) throw_again(failure_);
  try {
    raised_first(persistent_.request(), *prepared_, work);
    if (!persistent_.pending()) prepared_->rethrow();
  } catch (...) {
    if (persistent_.pending()) throw;
    failure_ = std::current_exception();
    throw_again(failure_);
  }
}

nb::object Repeated::wait(Seconds timeout) {
  const Turn::Hold mine(turn_);
  return wait_now(timeout);
}

nb::object Repeated::wait_now(Seconds timeout) {
  expect_time(timeout);
  given_up_ = true;  // unless the wait comes to its end
  settle([&] { python::wait(persistent_.request(), timeout); });
  given_up_ = false;
  return result_;
}

nb::object Repeated::run(Seconds timeout) {
  expect_time(timeout);
  const Turn::Hold mine(turn_);
  start_now();
  try {
    return wait_now(timeout ? timeout : limit_);
  } catch (...) {
    if (timeout || !persistent_.pending()) throw;  // who has given a time may wait on
    failure_ = std::current_exception();
    drop(persistent_.request(), true);  // as a blocking call, which leaves nothing behind
    throw_again(failure_);
  }
}

bool Repeated::test() {
  const Turn::Hold mine(turn_);
  settle([&] {
    const WithoutGil released;
    persistent_.test();
  });
  return !persistent_.pending();
}

int Repeated::fileno() {
  const Turn::Hold mine(turn_);
  const WithoutGil released;
  return persistent_.fileno();
}

void run(const Group& group, const Prepared& prepared) {
  say_call(true);
  Pending pending(without_gil([&] { return group.start(prepared.call()); }));
  wait(pending.request, prepared, time_limit(group));
}

std::unique_ptr<Started> start(const Group& group, std::unique_ptr<Prepared> prepared, nb::object result, bool blocks) {
  say_call(blocks);
  Request request = without_gil([&] { return group.start(prepared->call()); });
  return std::make_unique<Started>(std::move(request), std::move(prepared), std::move(result));
}

std::unique_ptr<Repeated> init(const Group& group, std::unique_ptr<Prepared> prepared, nb::object result) {
  Persistent persistent = without_gil([&] { return group.init(prepared->call()); });
  return std::make_unique<Repeated>(std::move(persistent), std::move(prepared), std::move(result), time_limit(group));
}

}  // namespace tutti::python
