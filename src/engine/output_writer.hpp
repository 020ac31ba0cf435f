// SPDX-License-Identifier: BSD-3-Clause
// How a rank writes what a call brings, where all that the call touches may not fit the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/copy.hpp"

namespace tutti::engine {

/// Copies to the user through the caches or past them, whichever is faster here. Nobody says how much of the cache is
/// this job's: in a cloud the neighbours' data lie there too. AMD EPYC, 32 MiB, two ranks, gather of 4 MiB: on one day
/// 1695 us through the caches and 1036 past them, on another 370 and 470. So now and then the other way is tried, more
/// and more seldom while the answer stays the same. Past the caches has to save a fifth, for the user reads faster what
/// lies in them.
class OutputWriter {
 public:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Whether the time of the next copy counts.
  bool times() const { return left_ <= window(); }
  /// A copy of so many bytes, at least base::large_copy, is done; the time matters only where it counts.
  void note(std::size_t bytes, std::uint64_t nanoseconds);
  /// Past the caches.
  bool past() const { return past_; }

  /// Bytes from the start, or from a change of the way, to the next trial. Each that changes nothing doubles it.
  static std::size_t first_stretch() { return 8 * base::largest_cache(); }
  /// The last bytes before a trial are timed, and as many of the trial: several calls, for these copy what is near and
  /// what is far. As many before them are not, for the caches hold what the other way has left there.
  static std::size_t window() { return base::largest_cache() / 2; }

 private:
  bool past_ = false, trial_ = false;
  std::size_t stretch_ = first_stretch(), left_ = stretch_;  // left to the next change of the way
  double sum_ = 0, bytes_ = 0;                               // nanoseconds and bytes of this window
  double before_ = 0;                                        // nanoseconds of a byte in the one before
  double least_ = std::numeric_limits<double>::infinity();   // and of the fastest copy, about
};

}  // namespace tutti::engine
