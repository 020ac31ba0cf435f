// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/request.hpp"

#include <vector>

#include "engine/engine.hpp"
#include "engine/reduction.hpp"

namespace tutti {

using engine::Operation;

namespace {

engine::Engine& engine_of(const Operation& operation) { return operation.channel().engine(); }

std::uint64_t deadline(const engine::Engine& engine, Duration timeout) {
  const std::uint64_t until = const_cast<engine::Engine&>(engine).waiting().now() +
                              static_cast<std::uint64_t>(std::max<Duration::rep>(timeout.count(), 0));
  return until == 0 ? 1 : until;
}

/// Lets go of a finished operation; throws what it failed with.
void collect(Operation*& held) {
  Operation* operation = std::exchange(held, nullptr);
  if (!operation->failed()) return operation->release();
  const Error error = operation->error();
  operation->release();
  raise(error);
}

/// The short way to the end of an operation that is nearly there.
bool finish_soon(Operation*& held) {
  engine_of(*held).check_process();
  engine::refuse_inside_reduction();
  if (held->finished() || !held->channel().finish_soon(*held)) return false;
  held = nullptr;
  return true;
}

/// `operation`: one of those that have not ended. All of them have been given their time: destroying any of them gives
/// it up, and waits no longer.
[[noreturn]] void timed_out(Operation& operation, std::span<const Request> requests) {
  for (const Request& request : requests)
    if (request) request.operation()->remember_timeout();
  throw Timeout(
      Cause::timeout,
      operation.channel().describe(operation) + " did not complete in time: it " +
          operation.channel().waits_for(operation) +
          ". A request may be waited for again; destroying it, or a blocking call, gives up and breaks the group.");
}

}  // namespace

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    Request old(std::move(*this));
    operation_ = std::exchange(other.operation_, nullptr);
  }
  return *this;
}

Request::~Request() {
  if (operation_ == nullptr || engine_of(*operation_).forked()) return;
  if (!operation_->finished()) {
    if (operation_->timed_out()) operation_->channel().give_up(*operation_);
    const engine::Uninterrupted to_the_end;
    engine_of(*operation_).wait_to_the_end(*operation_);
  }
  std::exchange(operation_, nullptr)->release();
}

bool Request::test() {
  if (operation_ == nullptr) return true;
  engine_of(*operation_).check_process();
  engine::refuse_inside_reduction();
  if (!operation_->finished()) {
    engine_of(*operation_).visit();
    if (!operation_->finished()) return false;
  }
  collect(operation_);
  return true;
}

void Request::wait() {
  if (operation_ == nullptr || finish_soon(operation_)) return;
  engine_of(*operation_).wait(*operation_, 0);
  collect(operation_);
}

void Request::wait(Duration timeout) {
  if (operation_ != nullptr && !wait_for(timeout)) timed_out(*operation_, {this, 1});
}

bool Request::wait_for(Duration timeout) {
  if (timeout <= Duration::zero()) return test();
  if (operation_ == nullptr || finish_soon(operation_)) return true;
  engine::Engine& engine = engine_of(*operation_);
  if (!operation_->finished() && !engine.wait(*operation_, deadline(engine, timeout))) return false;
  collect(operation_);
  return true;
}

int Request::fileno() {
  if (operation_ == nullptr)
    throw Error(Cause::usage, "an empty request has no descriptor; ask before the wait that completes it");
  engine_of(*operation_).check_process();
  engine::refuse_inside_reduction();
  return engine_of(*operation_).event_of(*operation_);
}

void Request::say_place(std::string_view place) const {
  if (operation_ != nullptr && !operation_->finished()) engine_of(*operation_).say_place(*operation_, place);
}

std::size_t wait_any(std::span<Request> requests, std::optional<Duration> timeout) {
  std::vector<Operation*> operations;
  Operation* some = nullptr;
  for (const Request& request : requests) {
    operations.push_back(request.operation());
    if (some == nullptr) some = request.operation();
  }
  if (some == nullptr) return requests.size();
  engine::Engine& engine = engine_of(*some);
  const auto found = engine.wait_any(operations, timeout ? deadline(engine, *timeout) : 0);
  if (!found) timed_out(*some, requests);
  requests[*found].wait();
  return *found;
}

void wait_all(std::span<Request> requests, std::optional<Duration> timeout) {
  std::uint64_t until = 0;
  for (const Request& request : requests) {
    if (!request) continue;
    engine::Engine& engine = engine_of(*request.operation());
    if (timeout && until == 0) until = deadline(engine, *timeout);
    if (!engine.wait(*request.operation(), until)) timed_out(*request.operation(), requests);
  }
  // Nothing is collected before: who waits again after a time-out is to hear of what had failed by then.
  std::optional<Error> first;
  for (Request& request : requests) {
    try {
      request.wait();
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) raise(*first);
}

}  // namespace tutti
