// SPDX-License-Identifier: BSD-3-Clause
// What those who write a trace file and those who read it have to agree on.
#pragma once

namespace tutti::trace {

inline constexpr int file_version = 2;

inline constexpr int most_ranks = 1 << 20;  // that anybody can have

/// Threads of the file that a rank has: its own, and one more for each depth at which things overlap without being
/// nested.
inline constexpr int lanes = 64;

}  // namespace tutti::trace
