// SPDX-License-Identifier: BSD-3-Clause
// Requests of I-collectives are real ones, which the MPI completes once `progress` has said so. Persistent collectives
// are started in the MPI only when they are done: while one runs, its request looks inactive to the MPI, and what the
// MPI says of a list of requests is corrected here. With nothing of ours open, all of this is one test.
#include "completion.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "host.hpp"
#include "real.hpp"
#include "requests.hpp"

namespace tutti::mpi::completion {
namespace {

std::span<MPI_Request> list(int count, MPI_Request* requests) {
  return {requests, requests == nullptr || count < 0 ? 0 : static_cast<std::size_t>(count)};
}

/// The persistent ones of ours, whose statuses the MPI fills as those of a receive from nobody.
class Statuses {
 public:
  Statuses(std::span<const MPI_Request> requests) {
    for (const MPI_Request request : requests) ours_.push_back(is_persistent(request));
  }
  void mend(std::size_t index, MPI_Status* status) const {
    if (status == MPI_STATUS_IGNORE || index >= ours_.size() || !ours_[index]) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
  }

 private:
  std::vector<bool> ours_;
};

/// The MPI's answer where some persistent collective still runs: nothing active is not the end of it.
bool nothing_yet(bool some_running, int index) { return some_running && index == MPI_UNDEFINED; }

}  // namespace

int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  if (idle()) return real.Test(request, flag, status);
  progress();
  const std::span<MPI_Request> all = list(1, request);
  if (running(all)) {
    Host::poll();
    *flag = 0;
    return MPI_SUCCESS;
  }
  const Statuses statuses(all);
  const int code = real.Test(request, flag, status);
  if (code == MPI_SUCCESS && *flag != 0) statuses.mend(0, status);
  return code;
}

int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) noexcept {
  if (idle()) return real.Testall(count, requests, flag, statuses);
  progress();
  const std::span<MPI_Request> all = list(count, requests);
  if (running(all)) {
    Host::poll();
    *flag = 0;
    return MPI_SUCCESS;
  }
  const Statuses ours(all);
  const int code = real.Testall(count, requests, flag, statuses);
  if (*flag != 0 && statuses != MPI_STATUSES_IGNORE)
    for (std::size_t i = 0; i < all.size(); ++i) ours.mend(i, &statuses[i]);
  return code;
}

int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) noexcept {
  if (idle()) return real.Testany(count, requests, index, flag, status);
  progress();
  const std::span<MPI_Request> all = list(count, requests);
  const bool some = running(all);
  const Statuses ours(all);
  const int code = real.Testany(count, requests, index, flag, status);
  if (code != MPI_SUCCESS || *flag == 0) return code;
  if (nothing_yet(some, *index))
    *flag = 0;
  else if (*index != MPI_UNDEFINED)
    ours.mend(static_cast<std::size_t>(*index), status);
  return code;
}

int testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept {
  if (idle()) return real.Testsome(count, requests, done, indices, statuses);
  progress();
  const std::span<MPI_Request> all = list(count, requests);
  const bool some = running(all);
  const Statuses ours(all);
  const int code = real.Testsome(count, requests, done, indices, statuses);
  if (nothing_yet(some, *done)) *done = 0;
  if (*done != MPI_UNDEFINED && statuses != MPI_STATUSES_IGNORE)
    for (int i = 0; i < *done; ++i) ours.mend(static_cast<std::size_t>(indices[i]), &statuses[i]);
  return code;
}

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  if (idle()) return real.Wait(request, status);
  int code = MPI_SUCCESS, flag = 0;
  wait_until([&] {
    code = test(request, &flag, status);
    return code != MPI_SUCCESS || flag != 0;
  });
  return code;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  if (idle()) return real.Waitall(count, requests, statuses);
  int code = MPI_SUCCESS, flag = 0;
  wait_until([&] {
    code = testall(count, requests, &flag, statuses);
    return code != MPI_SUCCESS || flag != 0;
  });
  return code;
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept {
  if (idle()) return real.Waitany(count, requests, index, status);
  int code = MPI_SUCCESS, flag = 0;
  wait_until([&] {
    code = testany(count, requests, index, &flag, status);
    return code != MPI_SUCCESS || flag != 0;
  });
  return code;
}

int waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) noexcept {
  if (idle()) return real.Waitsome(count, requests, done, indices, statuses);
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
  const std::span<MPI_Request> all = list(1, &request);
  if (running(all)) {
    Host::poll();
    *flag = 0;
    return MPI_SUCCESS;
  }
  const Statuses ours(all);
  const int code = real.Request_get_status(request, flag, status);
  if (code == MPI_SUCCESS && *flag != 0) ours.mend(0, status);
  return code;
}

int request_free(MPI_Request* request) noexcept {
  if (!idle() && request != nullptr) forget_persistent(*request);
  return real.Request_free(request);
}

int start(MPI_Request* request) noexcept {
  int code = MPI_SUCCESS;
  if (!idle() && request != nullptr && start_persistent(*request, code)) return code;
  return real.Start(request);
}

int startall(int count, MPI_Request* requests) noexcept {
  if (idle()) return real.Startall(count, requests);
  for (MPI_Request& request : list(count, requests))
    if (const int code = start(&request); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

}  // namespace tutti::mpi::completion
