// SPDX-License-Identifier: BSD-3-Clause
// What the requests of measured I-collectives cost: the time in the calls that complete them.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "abi.hpp"
#include "base/clock.hpp"
#include "choices.hpp"

namespace tutti::mpi {

/// Nanoseconds from `start`, by the one clock.
inline std::int64_t since(std::uint64_t start) { return static_cast<std::int64_t>(base::now() - start); }

/// Where the time that a request takes belongs.
struct Charge {
  std::shared_ptr<Choices> choices;  ///< nullptr: to no trial, but to the report.
  Watched* watched;
  int sample;
  Kind kind;
  Side side;
  int size_class;
};

/// How many requests are measured, or have something kept for them. Relaxed: a thread's own are what it must see.
inline std::atomic<int> timed_requests{0};
inline bool timing() { return timed_requests.load(std::memory_order_relaxed) != 0; }

void time_request(MPI_Request request, Charge charge);
/// The MPI reads `arrays` until the request is complete.
void keep_for(MPI_Request request, std::shared_ptr<const void> arrays);

/// While it lives a call completes requests, or tries to.
class Stopwatch {
 public:
  explicit Stopwatch(std::span<MPI_Request> requests);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::span<MPI_Request> requests_;
  struct Measured {
    std::uintptr_t request = 0;
    std::uint64_t number = 0;  ///< 0: is not measured.
  };
  std::vector<Measured> before_;  ///< Of each request.
  std::uint64_t start_ = 0;
  std::int64_t measured_ = 0;
};

/// A call that completes requests, with its time taken.
template <auto function>
struct Timed;
template <class... Rest, int (*function)(MPI_Request*, Rest...) noexcept>
struct Timed<function> {
  static int call(MPI_Request* request, Rest... rest) noexcept {
    if (!timing() || request == nullptr) return function(request, rest...);
    const Stopwatch stopwatch({request, 1});
    return function(request, rest...);
  }
};
template <class... Rest, int (*function)(int, MPI_Request*, Rest...) noexcept>
struct Timed<function> {
  static int call(int count, MPI_Request* requests, Rest... rest) noexcept {
    if (!timing() || requests == nullptr || count <= 0) return function(count, requests, rest...);
    const Stopwatch stopwatch({requests, static_cast<std::size_t>(count)});
    return function(count, requests, rest...);
  }
};

}  // namespace tutti::mpi
