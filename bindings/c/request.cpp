// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "c/guard.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

std::optional<Duration> limit(int64_t timeout_ns) {
  return timeout_ns < 0 ? std::nullopt : std::optional(Duration(timeout_ns));
}

std::span<Request> requests_of(tutti_request* requests, size_t n) {
  return n == 0 ? std::span<Request>() : std::span<Request>(&request_of(requests), n);
}

}  // namespace

tutti_status tutti_wait(tutti_request* request, int64_t timeout_ns) {
  return guarded([&] {
    Request& waited = request_of(request);
    timeout_ns < 0 ? waited.wait() : waited.wait(Duration(timeout_ns));
  });
}

tutti_status tutti_test(tutti_request* request, int* done) {
  return guarded([&] {
    if (done == nullptr) refuse("tutti_test: nowhere to put the answer; pass the address of an int");
    *done = request_of(request).test() ? 1 : 0;
  });
}

tutti_status tutti_wait_any(tutti_request* requests, size_t n, size_t* index, int64_t timeout_ns) {
  return guarded([&] {
    if (index == nullptr) refuse("tutti_wait_any: nowhere to put the index; pass the address of a size_t");
    const std::span<Request> waited = requests_of(requests, n);
    std::vector<bool> pending;
    for (const Request& request : waited) pending.push_back(static_cast<bool>(request));
    try {
      *index = wait_any(waited, limit(timeout_ns));
    } catch (const Error&) {
      // The one that failed is the one that has become empty; none has after a time-out.
      for (size_t i = 0; i < n; ++i)
        if (pending[i] && !waited[i]) *index = i;
      throw;
    }
  });
}

tutti_status tutti_wait_all(tutti_request* requests, size_t n, int64_t timeout_ns) {
  return guarded([&] { wait_all(requests_of(requests, n), limit(timeout_ns)); });
}

tutti_status tutti_request_free(tutti_request* request) {
  return guarded([&] { request_of(request) = Request(); });
}

tutti_status tutti_request_fd(tutti_request* request, int* fd) {
  return guarded([&] {
    if (fd == nullptr) refuse("tutti_request_fd: nowhere to put the descriptor; pass the address of an int");
    *fd = request_of(request).fileno();
  });
}

tutti_status tutti_start(tutti_persistent* persistent) {
  return guarded([&] { persistent_of(persistent).start(); });
}

tutti_status tutti_run(tutti_persistent* persistent) {
  return guarded([&] { persistent_of(persistent).run(); });
}

tutti_status tutti_persistent_wait(tutti_persistent* persistent, int64_t timeout_ns) {
  return guarded([&] {
    Persistent& waited = persistent_of(persistent);
    timeout_ns < 0 ? waited.wait() : waited.wait(Duration(timeout_ns));
  });
}

tutti_status tutti_persistent_test(tutti_persistent* persistent, int* done) {
  return guarded([&] {
    if (done == nullptr) refuse("tutti_persistent_test: nowhere to put the answer; pass the address of an int");
    *done = persistent_of(persistent).test() ? 1 : 0;
  });
}

tutti_status tutti_persistent_free(tutti_persistent* persistent) {
  return guarded([&] { persistent_of(persistent) = Persistent(); });
}
