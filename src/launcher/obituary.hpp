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

/// What only the rooms above know, for texts; nullptr = numbers do.
struct Names {
  std::string (*collective)(std::uint32_t kind) = nullptr;  ///< By the number in Process::Last::kind.
  std::string (*group)(std::uint64_t context, std::uint64_t job) = nullptr;
};

/// What a rank did last, as its line in the segment says: "in allreduce #12 of the world", "its last collective was
/// ...", or "before its first collective".
std::string last_collective(host::Segment& segment, Rank rank, const Names& names);

}  // namespace tutti::launcher
