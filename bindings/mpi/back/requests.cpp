// SPDX-License-Identifier: BSD-3-Clause
#include "requests.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "blocked.hpp"
#include "engine/operation.hpp"
#include "host.hpp"
#include "real.hpp"

namespace tutti::mpi {
namespace {

/// Behind a generalised request. Freed by the MPI's call of `free_open`.
struct Open {
  MPI_Request handle = MPI_REQUEST_NULL;
  Request operation;
  Held held;
  Origin origin;
  int code = MPI_SUCCESS;
};

/// Behind a persistent receive from this rank itself that never starts. (Not from nobody: that one Intel MPI calls
/// complete in MPI_Testany and its like, started or not.)
struct Persistent {
  std::shared_ptr<job::Member> member;
  std::unique_ptr<const job::Prepared> prepared;
  Held held;
  Origin origin;
  Request operation;
  bool active = false;  ///< Started, and its end not collected.
  int code = MPI_SUCCESS;
};

struct Requests {
  std::mutex lock;
  std::list<Open*> open;  ///< Owned by their requests.
  std::unordered_map<std::uintptr_t, Persistent> persistent;
};

Requests& table() {
  static Requests& all = *std::make_unique<Requests>().release();
  return all;
}

std::vector<Failure>& failures() {
  static thread_local std::vector<Failure> all;
  return all;
}

int query_open(void* state, MPI_Status* status) {
  asked_for_status = true;
  real.Status_set_elements(status, MPI_BYTE, 0);
  real.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  const Open& ended = *static_cast<Open*>(state);
  // MPICH asks twice.
  if (ended.code != MPI_SUCCESS && std::ranges::find(failures(), ended.handle, &Failure::request) == failures().end())
    failures().push_back({ended.handle, ended.origin, ended.code});
  return MPI_SUCCESS;
}

int free_open(void* state) {
  const std::unique_ptr<Open> ended(static_cast<Open*>(state));
  if (ended->code != MPI_SUCCESS) {
    failed_operations.fetch_sub(1, std::memory_order_relaxed);
    open_operations.fetch_sub(1, std::memory_order_relaxed);
  }
  return MPI_SUCCESS;
}

int cancel_open(void*, int) { return MPI_SUCCESS; }

/// True when it is complete, as far as `progress` has moved it; then `code` says how.
bool test(Request& operation, int& code) {
  try {
    return operation.operation()->finished() && operation.test();
  } catch (const Error& error) {
    base::log(error.what());
    code = code_of(error);
    return true;
  }
}

}  // namespace

int hand_out(Request operation, Held held, Origin origin, MPI_Request* request) {
  auto open = std::make_unique<Open>();
  open->held = std::move(held);
  open->origin = std::move(origin);
  open->operation = std::move(operation);
  const int code = real.Grequest_start(&query_open, &free_open, &cancel_open, open.get(), request);
  if (code != MPI_SUCCESS) return code;
  open->handle = *request;
  if (test(open->operation, open->code)) {
    open->operation = Request();
    open->held = {};
    if (open->code != MPI_SUCCESS) {
      open_operations.fetch_add(1, std::memory_order_relaxed);
      failed_operations.fetch_add(1, std::memory_order_relaxed);
    }
    const MPI_Request handle = open->handle;
    static_cast<void>(open.release());
    return real.Grequest_complete(handle);
  }
  const std::lock_guard lock(table().lock);
  table().open.push_back(open.release());
  open_operations.fetch_add(1, std::memory_order_relaxed);
  begin_running();
  return MPI_SUCCESS;
}

int hand_out(std::shared_ptr<job::Member> member, std::unique_ptr<const job::Prepared> prepared, Held held,
             Origin origin, MPI_Request* request) {
  const int code = real.Recv_init(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, request);
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(table().lock);
  table().persistent[number_of(*request)] = {
      std::move(member), std::move(prepared), std::move(held), std::move(origin), {}, false, MPI_SUCCESS};
  persistent_operations.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

void progress() {
  Requests& all = table();
  std::vector<Held> ended;  // destroyed behind the lock
  const std::unique_lock lock(all.lock, std::try_to_lock);
  if (!lock) return;
  if (!resting() && Host::get() != nullptr)
    for (engine::Engine* engine : Host::get()->engines()) engine->visit();
  for (auto open = all.open.begin(); open != all.open.end();) {
    if (!test((*open)->operation, (*open)->code)) {
      ++open;
      continue;
    }
    // The request may be freed inside the call.
    const MPI_Request handle = (*open)->handle;
    ended.push_back(std::move((*open)->held));
    const bool failed = (*open)->code != MPI_SUCCESS;  // then it stays open until somebody hears of it
    open = all.open.erase(open);
    if (failed)
      failed_operations.fetch_add(1, std::memory_order_relaxed);
    else
      open_operations.fetch_sub(1, std::memory_order_relaxed);
    end_running();
    real.Grequest_complete(handle);
  }
}

void wait_until(const std::function<bool()>& done) {
  const Host* host = Host::get();
  const auto engines = host == nullptr ? std::vector<engine::Engine*>() : host->engines();
  if (engines.empty()) {
    while (!done()) continue;
    return;
  }
  engines.front()->wait_for([&] {
    progress();
    return done();
  });
}

std::vector<Failure> take_failures() { return std::exchange(failures(), {}); }

State state_of(MPI_Request request) {
  Requests& all = table();
  const std::lock_guard lock(all.lock);
  const auto found = all.persistent.find(number_of(request));
  if (found == all.persistent.end() || !found->second.active) return State::not_active;
  Persistent& one = found->second;
  if (!one.operation) return State::finished;
  if (!test(one.operation, one.code)) return State::running;
  one.operation = Request();
  end_running();
  return State::finished;
}

int collect(MPI_Request request) {
  Requests& all = table();
  std::unique_lock lock(all.lock);
  Persistent& one = all.persistent.at(number_of(request));
  one.active = false;
  open_operations.fetch_sub(1, std::memory_order_relaxed);
  const int code = one.code;
  const Origin origin = one.origin;
  lock.unlock();  // the program's handler may ask for requests
  if (code != MPI_SUCCESS) raise(origin, code);
  return code;
}

std::shared_ptr<job::Member> apart(job::Member& from) {
  try {
    std::shared_ptr<job::Member> made = from.split(0, from.who().rank, nullptr);
    if (from.topology() != nullptr) made->attach(from.shared_topology());
    return made;
  } catch (const Error& error) {
    base::log(std::string("a persistent collective is the MPI's: ") + error.what());
    return nullptr;
  }
}

bool start_persistent(MPI_Request request, int& code) {
  Requests& all = table();
  std::unique_lock lock(all.lock);
  const auto found = all.persistent.find(number_of(request));
  if (found == all.persistent.end()) return false;
  if (found->second.active) {
    // The MPI would start it: it knows of no operation.
    lock.unlock();
    code = MPI_ERR_REQUEST;
    real.Comm_call_errhandler(MPI_COMM_SELF, code);
    return true;
  }
  const Origin origin = found->second.origin;
  try {
    found->second.operation = found->second.member->start(*found->second.prepared);
    found->second.active = true;
    open_operations.fetch_add(1, std::memory_order_relaxed);
    begin_running();
    found->second.code = code = MPI_SUCCESS;
  } catch (const Error& error) {
    lock.unlock();
    code = fail(origin, error);
  }
  return true;
}

void forget_persistent(MPI_Request request) {
  Requests& all = table();
  decltype(all.persistent)::node_type ended;  // destroyed behind the lock
  const std::lock_guard lock(all.lock);
  const auto found = all.persistent.find(number_of(request));
  if (found == all.persistent.end()) return;
  if (found->second.operation) end_running();
  if (found->second.active) open_operations.fetch_sub(1, std::memory_order_relaxed);
  ended = all.persistent.extract(found);
  persistent_operations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tutti::mpi
