// SPDX-License-Identifier: BSD-3-Clause
// What the launcher says about ranks: how one ended, and what it was doing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/segment.hpp"

namespace tutti::launcher {

/// How a child process ended.
struct End {
  bool killed = false;  ///< By a signal.
  bool dumped = false;  ///< It wrote a core dump.
  int number = 0;       ///< The signal, or the exit status.
  /// As a shell would give it.
  int code() const { return killed ? 128 + number : number; }
  /// "was killed by SIGKILL (Killed)", "exited with status 3".
  std::string text() const;
};

/// Whether a group is the world, which only the rooms above know.
using IsWorld = bool (*)(std::uint64_t context, std::uint64_t job);

/// What a rank did last, as its line in the segment says: "in allreduce #12 of the world", "its last collective was
/// ...", or "before its first collective".
std::string last_collective(host::Segment& segment, Rank rank, IsWorld is_world);

}  // namespace tutti::launcher
