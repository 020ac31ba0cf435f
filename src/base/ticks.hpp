// SPDX-License-Identifier: BSD-3-Clause
// A count that goes evenly with time and is read in half of the time of a clock: for those who look at it very often.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tutti::base {

/// The processor's counter is even and the same on all cores, so that the kernel tells time by it, too.
bool has_even_counter();

/// Of this host's counter, or nanoseconds where it has none. Two readings of it and of the clock tell how fast it goes.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  static const bool counter = has_even_counter();
  if (counter) return __rdtsc();
#endif
  return now();
}

}  // namespace tutti::base
