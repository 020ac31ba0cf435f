// SPDX-License-Identifier: BSD-3-Clause
// A started operation.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti {

namespace engine {
class Operation;
}

/// How long a wait may take.
using Duration = std::chrono::nanoseconds;

/// A started operation: move-only, owned by one variable. Its buffers are the user's again when a wait has returned or
/// thrown anything but Timeout. Any thread may wait on it or test it, one at a time per request.
///
///     auto request = group.iallreduce(in, out, tutti::sum);
///     compute();
///     request.wait();
///
/// Destroying a pending request waits for it; after a time-out it gives the operation up instead, which breaks the
/// group.
class TUTTI_API Request {
 public:
  Request() = default;
  /// Takes over one reference; for the library itself.
  explicit Request(engine::Operation* operation) noexcept : operation_(operation) {}
  Request(Request&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True while there is an operation whose end nobody has collected.
  explicit operator bool() const noexcept { return operation_ != nullptr; }

  /// Moves things on; true when the operation is complete (an empty request is). Throws what the operation failed with.
  bool test();
  /// Returns when complete. Throws what the operation failed with.
  void wait();
  /// The same within a time. Throws Timeout when it runs out: the request is then still pending.
  void wait(Duration timeout);
  /// Waits and reports instead of throwing Timeout: true when complete.
  bool wait_for(Duration timeout);

  /// A descriptor that becomes readable when the operation is complete (an eventfd; it belongs to the request).
  /// Asking for it starts the library's progress thread. Throws Error: system when there is none to be had, usage for
  /// an empty request, and where none is allowed (mpi.hpp).
  int fileno();

  /// For bindings of languages that know a file and a line where C++ has a return address: where this request is
  /// waited for, as `tutti why` shows it. To be said when a wait has become long, not in every call.
  void say_place(std::string_view place) const;

  engine::Operation* operation() const noexcept { return operation_; }

 private:
  engine::Operation* operation_ = nullptr;
};

/// Waits for all. Throws the first failure found, after all are complete or failed. After Timeout none has been
/// collected, those that were complete by then neither: wait again, which then throws what failed.
TUTTI_API void wait_all(std::span<Request> requests, std::optional<Duration> timeout = std::nullopt);
/// Waits for one that is complete and returns its index; that request becomes empty. Empty requests are passed over;
/// returns requests.size() when all are empty. Throws what that one failed with, and Timeout.
TUTTI_API std::size_t wait_any(std::span<Request> requests, std::optional<Duration> timeout = std::nullopt);

}  // namespace tutti
