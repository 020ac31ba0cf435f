// SPDX-License-Identifier: BSD-3-Clause
// Requests of I-collectives are real ones, which the MPI completes once `progress` has said so. Those of persistent
// collectives always look inactive to the MPI, and what it says of a list of requests is corrected here. (To start them
// in the MPI when they are done would do if all MPIs saw the end of a receive from nobody: MPICH 5's MPI_Testany does
// not.) With nothing of ours open, all of this is one test.
#include "completion.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "blocked.hpp"
#include "host.hpp"
#include "real.hpp"
#include "requests.hpp"

namespace tutti::mpi::completion {
namespace {

/// Others the MPI refuses.
bool is_list(int count, const MPI_Request* requests) { return count == 0 || (count > 0 && requests != nullptr); }
template <class Request>
std::span<Request> list(int count, Request* requests) {
  return {requests, is_list(count, requests) ? static_cast<std::size_t>(count) : 0};
}

/// A status that says nothing (MPI 4.1, 3.7.3).
void clear(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  real.Status_set_elements(status, MPI_BYTE, 0);
  real.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
}
/// The same where no call of the MPI's writes the error either.
void clear_all_of(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  clear(status);
  status->MPI_ERROR = MPI_SUCCESS;
}
void clear_in_list(MPI_Status* statuses, std::size_t index) {
  if (statuses != MPI_STATUSES_IGNORE) clear_all_of(&statuses[index]);
}

/// What a call says of a list, which has said `code` so far, when the request whose status is `index` has ended with
/// `one`: failures stand in the statuses, in all of the first `count` (MPI 4.1, 3.7.5).
int with_failure(int code, int one, MPI_Status* statuses, std::size_t index, std::size_t count) {
  if (one == MPI_SUCCESS || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) return code;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (std::size_t i = 0; i < count && code == MPI_SUCCESS; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    statuses[index].MPI_ERROR = one;
  }
  return MPI_ERR_IN_STATUS;
}

/// What a call says that has said `code` so far, behind the failures of the I-collectives that it has completed.
int heard(int code) {
  for (const Failure& one : take_failures()) {
    raise(one.origin, one.code);
    if (code == MPI_SUCCESS) code = one.code;
  }
  return code;
}

/// The same of a list. `before`: the requests; the status of place i is that of the request indices[i], without
/// indices of the request i.
int heard_in_list(int code, std::span<const MPI_Request> before, MPI_Status* statuses, std::size_t count,
                  const int* indices) {
  for (const Failure& one : take_failures()) {
    for (std::size_t i = 0; i < count; ++i)
      if (before[indices == nullptr ? i : static_cast<std::size_t>(indices[i])] == one.request)
        code = with_failure(code, one.code, statuses, i, count);
    raise(one.origin, one.code);
  }
  return code;
}

/// The states of a list of requests, of which most are the MPI's own.
struct States {
  std::vector<State> each;
  bool running = false;
  explicit States(std::span<const MPI_Request> requests) {
    for (const MPI_Request request : requests) {
      each.push_back(state_of(request));
      running = running || each.back() == State::running;
    }
  }
};

/// Of a list with requests of ours: the MPI says what `ask` asks it of its own, and `take` is what becomes of a
/// finished one of ours.
template <class Request, class Ask, class Take>
int any(std::span<Request> all, int* index, int* flag, MPI_Status* status, Ask ask, Take take) {
  progress();
  const States states(all);
  take_failures();  // what looks have seen
  int code = ask();
  if constexpr (!std::is_const_v<Request>) code = heard(code);
  if (code != MPI_SUCCESS || (*flag != 0 && *index != MPI_UNDEFINED)) return code;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (states.each[i] != State::finished) continue;
    *flag = 1;
    *index = static_cast<int>(i);
    clear(status);
    return take(all[i]);
  }
  if (!states.running) return code;
  // That nothing of its own is active is not the end of it; nor has the MPI moved anything on then.
  *flag = 0;
  Host::poll();
  return code;
}

template <class Request, class Ask, class Take>
int some(std::span<Request> all, int* done, int* indices, MPI_Status* statuses, Ask ask, Take take) {
  progress();
  const States states(all);
  const std::vector<MPI_Request> before(all.begin(), all.end());
  *done = 0;  // an MPI that fails may leave it as it was
  take_failures();
  int code = ask();
  int found = *done == MPI_UNDEFINED ? 0 : *done;
  if constexpr (!std::is_const_v<Request>)
    code = heard_in_list(code, before, statuses, static_cast<std::size_t>(found), indices);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (states.each[i] != State::finished) continue;
    indices[found] = static_cast<int>(i);
    clear_in_list(statuses, static_cast<std::size_t>(found));
    const auto index = static_cast<std::size_t>(found++);
    code = with_failure(code, take(all[i]), statuses, index, index);
  }
  if (found > 0 || states.running) *done = found;
  if (found == 0 && states.running) Host::poll();
  return code;
}

template <class Request, class Ask, class Take>
int all(std::span<Request> all, int* flag, MPI_Status* statuses, Ask ask, Take take) {
  progress();
  const States states(all);
  if (states.running) {
    Host::poll();
    *flag = 0;
    return MPI_SUCCESS;
  }
  const std::vector<MPI_Request> before(all.begin(), all.end());
  take_failures();
  int code = ask();
  if constexpr (!std::is_const_v<Request>)
    if (*flag != 0 || code != MPI_SUCCESS) code = heard_in_list(code, before, statuses, all.size(), nullptr);
  for (std::size_t i = 0; i < all.size() && *flag != 0; ++i) {
    if (states.each[i] != State::finished) continue;
    clear_in_list(statuses, i);
    code = with_failure(code, take(all[i]), statuses, i, all.size());
  }
  return code;
}

int keep(MPI_Request) { return MPI_SUCCESS; }

/// What an MPI before 4.1 says of one request. What is inactive is complete with an empty status; so is an I-collective
/// of ours, about which it asks us (Open MPI's own have other sources: 0, or MPI_PROC_NULL; MPICH writes neither source
/// nor tag of a send).
struct Look {
  static constexpr int unwritten = std::numeric_limits<int>::min() + 1;
  int code = MPI_SUCCESS, complete = 1;
  bool active = false;
  MPI_Status status;
  explicit Look(MPI_Request request) {
    clear_all_of(&status);
    if (request == MPI_REQUEST_NULL) return;
    asked_for_status = false;
    status.MPI_SOURCE = status.MPI_TAG = unwritten;
    code = real.Request_get_status(request, &complete, &status);
    active = asked_for_status || code != MPI_SUCCESS || complete == 0 || status.MPI_SOURCE != MPI_ANY_SOURCE ||
             status.MPI_TAG != MPI_ANY_TAG;
    if (status.MPI_SOURCE == unwritten) status.MPI_SOURCE = MPI_ANY_SOURCE;
    if (status.MPI_TAG == unwritten) status.MPI_TAG = MPI_ANY_TAG;
  }
  void write(MPI_Status* to) const {
    if (to != MPI_STATUS_IGNORE) *to = status;
  }
  void write(MPI_Status* statuses, std::size_t index) const {
    if (statuses == MPI_STATUSES_IGNORE) return;
    statuses[index] = status;
    statuses[index].MPI_ERROR = code;
  }
};

int look_at_all(std::span<const MPI_Request> requests, int* flag, MPI_Status* statuses) {
  int code = MPI_SUCCESS;
  *flag = 1;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Look look(requests[i]);
    look.write(statuses, i);
    if (look.complete == 0) *flag = 0;
    if (look.code != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
  }
  return code;
}

int look_at_any(std::span<const MPI_Request> requests, int* index, int* flag, MPI_Status* status) {
  *flag = 1;
  *index = MPI_UNDEFINED;
  clear_all_of(status);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Look look(requests[i]);
    if (look.complete == 0) *flag = 0;
    if (!look.active || look.complete == 0) continue;
    *flag = 1;
    *index = static_cast<int>(i);
    look.write(status);
    return look.code;
  }
  return MPI_SUCCESS;
}

int look_at_some(std::span<const MPI_Request> requests, int* done, int* indices, MPI_Status* statuses) {
  int code = MPI_SUCCESS, found = 0;
  bool active = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Look look(requests[i]);
    active = active || look.active;
    if (!look.active || look.complete == 0) continue;
    look.write(statuses, static_cast<std::size_t>(found));
    indices[found++] = static_cast<int>(i);
    if (look.code != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
  }
  *done = active ? found : MPI_UNDEFINED;
  return code;
}

}  // namespace

int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  if (idle()) return real.Test(request, flag, status);
  progress();
  const State state = request == nullptr ? State::not_active : state_of(*request);
  if (state == State::not_active) {
    take_failures();
    return heard(real.Test(request, flag, status));
  }
  *flag = state == State::finished ? 1 : 0;
  if (*flag == 0) {
    Host::poll();
    return MPI_SUCCESS;
  }
  clear(status);
  return collect(*request);
}

int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept {
  const auto ask = [&] { return real.Testall(count, requests, flag, statuses); };
  return idle() ? ask() : all(list(count, requests), flag, statuses, ask, collect);
}

int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept {
  const auto ask = [&] { return real.Testany(count, requests, index, flag, status); };
  return idle() ? ask() : any(list(count, requests), index, flag, status, ask, collect);
}

int testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept {
  const auto ask = [&] { return real.Testsome(count, requests, done, indices, statuses); };
  return idle() ? ask() : some(list(count, requests), done, indices, statuses, ask, collect);
}

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  if (idle()) return blocked([&] { return real.Wait(request, status); });
  if (is_settled()) {
    take_failures();
    return heard(blocked([&] { return real.Wait(request, status); }));
  }
  int code = MPI_SUCCESS, flag = 0;
  wait_until([&] {
    code = test(request, &flag, status);
    return code != MPI_SUCCESS || flag != 0;
  });
  return code;
}

/// One after the other, while all of them move on: MPICH 5's MPI_Testall fails where one is a persistent collective of
/// its own.
int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  if (idle() || !is_list(count, requests)) return blocked([&] { return real.Waitall(count, requests, statuses); });
  std::vector<int> codes;
  for (MPI_Request& request : list(count, requests))
    codes.push_back(wait(&request, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[codes.size()]));
  if (std::ranges::all_of(codes, [](int code) { return code == MPI_SUCCESS; })) return MPI_SUCCESS;
  for (std::size_t i = 0; i < codes.size() && statuses != MPI_STATUSES_IGNORE; ++i) statuses[i].MPI_ERROR = codes[i];
  return MPI_ERR_IN_STATUS;
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept {
  const auto ask = [&] { return blocked([&] { return real.Waitany(count, requests, index, status); }); };
  if (idle()) return ask();
  int code = MPI_SUCCESS, flag = 1;
  if (is_settled()) return any(list(count, requests), index, &flag, status, ask, collect);
  wait_until([&] {
    code = testany(count, requests, index, &flag, status);
    return code != MPI_SUCCESS || flag != 0;
  });
  return code;
}

int waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept {
  const auto ask = [&] { return blocked([&] { return real.Waitsome(count, requests, done, indices, statuses); }); };
  if (idle()) return ask();
  if (is_settled()) return some(list(count, requests), done, indices, statuses, ask, collect);
  int code = MPI_SUCCESS;
  wait_until([&] {
    code = testsome(count, requests, done, indices, statuses);
    return code != MPI_SUCCESS || *done != 0;
  });
  return code;
}

int request_get_status(MPI_Request request, int* flag, MPI_Status* status) noexcept {
  if (idle()) return real.Request_get_status(request, flag, status);
  progress();
  const State state = state_of(request);
  if (state == State::not_active) return real.Request_get_status(request, flag, status);
  *flag = state == State::finished ? 1 : 0;
  if (*flag != 0)
    clear(status);
  else
    Host::poll();
  return MPI_SUCCESS;
}

int request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept {
  const auto ask = [&] {
    return real.Request_get_status_all != nullptr ? real.Request_get_status_all(count, requests, flag, statuses)
                                                  : look_at_all(list(count, requests), flag, statuses);
  };
  return idle() ? ask() : all(list(count, requests), flag, statuses, ask, keep);
}

int request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept {
  const auto ask = [&] {
    return real.Request_get_status_any != nullptr ? real.Request_get_status_any(count, requests, index, flag, status)
                                                  : look_at_any(list(count, requests), index, flag, status);
  };
  return idle() ? ask() : any(list(count, requests), index, flag, status, ask, keep);
}

int request_get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                            MPI_Status* statuses) noexcept {
  const auto ask = [&] {
    return real.Request_get_status_some != nullptr
               ? real.Request_get_status_some(count, requests, done, indices, statuses)
               : look_at_some(list(count, requests), done, indices, statuses);
  };
  if (idle()) return ask();
  Host::poll();  // who finds the same ones each time may wait for another
  return some(list(count, requests), done, indices, statuses, ask, keep);
}

int request_free(MPI_Request* request) noexcept {
  if (has_persistent() && request != nullptr) forget_persistent(*request);
  return real.Request_free(request);
}

int start(MPI_Request* request) noexcept {
  int code = MPI_SUCCESS;
  if (has_persistent() && request != nullptr && start_persistent(*request, code)) return code;
  return real.Start(request);
}

int startall(int count, MPI_Request* requests) noexcept {
  if (!has_persistent() || !is_list(count, requests)) return real.Startall(count, requests);
  for (MPI_Request& request : list(count, requests))
    if (const int code = start(&request); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

}  // namespace tutti::mpi::completion
