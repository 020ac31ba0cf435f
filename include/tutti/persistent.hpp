// SPDX-License-Identifier: BSD-3-Clause
// A collective that is called again and again with the same buffers.
#pragma once

#include <memory>

#include "tutti/export.hpp"
#include "tutti/request.hpp"

namespace tutti {

namespace job {
struct Prepared;
}

/// A collective whose plan, buffers and peers are fixed once, by the `_init` form; starting it decides and allocates
/// nothing. Each start counts as a call of the collective, matched on all ranks in the order of starts, also with ranks
/// that use the blocking form. Move-only, owned by one variable; keeps its group. Local, does not communicate itself.
///
///     auto total = group.allreduce_init(in, out, tutti::sum);
///     for (int step = 0; step < steps; ++step) {
///       total.start();
///       compute();
///       total.wait();
///     }
///
/// Between start and the end of wait the buffers belong to the operation. Destroying it while it is pending waits.
class TUTTI_API Persistent {
 public:
  Persistent();
  /// For the library itself.
  explicit Persistent(std::unique_ptr<const job::Prepared> prepared);
  Persistent(Persistent&& other) noexcept;
  Persistent& operator=(Persistent&& other) noexcept;
  ~Persistent();

  /// True for a collective, false for an empty handle.
  explicit operator bool() const noexcept { return prepared_ != nullptr; }
  /// Started, and nobody has collected its end.
  bool pending() const noexcept { return static_cast<bool>(request_); }

  /// Throws Error (usage) while it is pending.
  void start();
  /// start and wait in one; it may take as long as a blocking call (TUTTI_TIMEOUT).
  void run();
  /// As a request's; at once when it is not pending.
  bool test() { return request_.test(); }
  void wait() { request_.wait(); }
  void wait(Duration timeout) { request_.wait(timeout); }
  bool wait_for(Duration timeout) { return request_.wait_for(timeout); }
  int fileno() { return request_.fileno(); }
  /// What is under way, empty when nothing is; for the language bindings, which leave it where it is.
  Request& request() noexcept { return request_; }

 private:
  const job::Prepared& startable() const;

  std::unique_ptr<const job::Prepared> prepared_;  // outlives the request: declared before it
  Request request_;
};

}  // namespace tutti
