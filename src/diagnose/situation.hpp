// SPDX-License-Identifier: BSD-3-Clause
// What all ranks of a job are doing: what its memory says, together with what the kernel says of its processes.
#pragma once

#include <sys/types.h>

#include <vector>

#include "diagnose/snapshot.hpp"

namespace tutti::diagnose {

enum class State {
  absent,    ///< Has not joined the job yet.
  running,   ///< Uses the processor, outside Tutti.
  sleeping,  ///< Sleeps in the kernel, but not for Tutti: reads a file, waits for another program.
  waiting,   ///< In a call of Tutti, for other ranks.
  stopped,   ///< By SIGSTOP, SIGTSTP or a debugger.
  dead,      ///< Ended without leaving.
  left,      ///< Ended in order.
};
const char* name(State state);

struct Seat {
  State state = State::absent;
  pid_t pid = 0;  ///< As seen from here; 0 = there is none any more, or it is not visible.
  /// What it has been waiting for, long enough to matter, without moving on; those that a thread waits for come first.
  std::vector<host::Wait> waits;
};

struct Situation {
  Snapshot snapshot;
  std::vector<Seat> seats;  ///< By rank.
  bool moving = false;      ///< Ranks call collectives, or wait so briefly that it says nothing.

  const Seat& seat(Rank rank) const { return seats[static_cast<std::size_t>(rank)]; }
};

/// Looks twice, a tenth of a second apart, so that what merely takes its time is not taken for a hang.
Situation observe(int segment);

}  // namespace tutti::diagnose
