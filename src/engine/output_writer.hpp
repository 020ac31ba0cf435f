// SPDX-License-Identifier: BSD-3-Clause
// How a rank writes what a call brings, where all that the call touches may not fit the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/copy.hpp"

namespace tutti::engine {

/// Copies to the user through the caches or past them, whichever is faster here. Nobody says how much of the cache is
/// this job's: in a cloud the neighbours' data lie there too. AMD EPYC, 32 MiB, two ranks, gather of 4 MiB: on one day
/// 1695 us through the caches and 1036 past them, on another 370 and 470. So now and then the other way is tried, more
/// and more seldom while the answer stays the same.
class OutputWriter {
 public:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

  /// How long the copy that comes next takes counts.
  bool times() const { return left_ == 0; }
  /// One of so many bytes is done; the time matters only where it counts.
  void note(std::size_t bytes, std::uint64_t nanoseconds);
  /// Past the caches.
  bool past() const { return past_; }

  /// Bytes from the start, or from a change of the way, to the next trial. Each that changes nothing doubles it.
  static std::size_t first_stretch() { return 2 * base::largest_cache(); }
  /// Bytes of a trial before its copies are timed: the caches hold what the other way has left there.
  static std::size_t settling() { return base::largest_cache() / 2; }
  /// Copies whose median counts: one may be interrupted, and its core taken away.
  static constexpr std::size_t timed = 64;

 private:
  bool past_ = false, trial_ = false;
  std::size_t stretch_ = first_stretch(), left_ = stretch_;  // left until copies are timed
  std::uint64_t before_ = 0;                                 // what a KiB took, in picoseconds, before the trial
  std::vector<std::uint64_t> times_;
};

}  // namespace tutti::engine
