// SPDX-License-Identifier: BSD-3-Clause
// What those who write a trace file and those who read it have to agree on.
#pragma once

#include <cstdint>

namespace tutti::trace {

inline constexpr int file_version = 2;

inline constexpr int most_ranks = 1 << 20;  // that anybody can have

/// Nanoseconds: three months. No slice is longer, nor all the calls together that it stands for, so that sums of them
/// do not overflow. A file that has a longer one is refused as a whole.
inline constexpr std::int64_t longest_slice = std::int64_t{1} << 53;

/// Threads of the file that a rank has: its own, and one more for each depth at which things overlap without being
/// nested.
inline constexpr int lanes = 64;

}  // namespace tutti::trace
