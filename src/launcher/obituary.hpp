// SPDX-License-Identifier: BSD-3-Clause
// What the launcher says about ranks: how one ended, and what it was doing.
#pragma once

#include <cstdint>
#include <span>
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

/// Names a collective by its number in Process::Last::kind.
using CollectiveName = std::string (*)(std::uint32_t kind);

/// What a rank did last, as its line in the segment says: "in allreduce #12 of group 6c1f...", "after ...", or
/// "before its first collective".
std::string last_collective(host::Segment& segment, Rank rank, CollectiveName name);

/// "rank 3", "ranks 0-2, 5".
std::string list_ranks(std::span<const Rank> ascending);

}  // namespace tutti::launcher
