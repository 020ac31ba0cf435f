// SPDX-License-Identifier: BSD-3-Clause
// How much of its cores a job gets.
#pragma once

#include <cstdint>

#include "host/segment.hpp"

namespace tutti::host {

/// What the ranks that may run on the calling one's cores have used of them so far.
struct Usage {
  std::uint64_t time = 0;       ///< When that was found, in nanoseconds; 0 = never.
  std::uint64_t processor = 0;  ///< Nanoseconds, of all of them.
  int cores = 1;
};

/// As of `now`; of at most `cores` cores. A few system calls for each rank.
Usage usage(const Segment& segment, int cores, std::uint64_t now);

/// Between the two the ranks used nearly all of their cores' time: who waited for a core waited for one of them. Also
/// true where nothing can be said, because a rank has gone or moved meanwhile.
bool gets_its_cores(const Usage& before, const Usage& now);

}  // namespace tutti::host
