// SPDX-License-Identifier: BSD-3-Clause
// What all ranks of a job are doing: what its memory says, together with what the kernel says of its processes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "diagnose/snapshot.hpp"

namespace tutti::diagnose {

enum class State {
  absent,    ///< Has not joined the job yet.
  running,   ///< Uses the processor, outside Tutti.
  sleeping,  ///< Sleeps in the kernel, but not for Tutti: reads a file, waits for another program.
  in_mpi,    ///< In a function of its MPI that may wait for other ranks, and that Tutti does not serve.
  waiting,   ///< In a call of Tutti, for other ranks.
  stopped,   ///< By SIGSTOP, SIGTSTP or a debugger.
  dead,      ///< Ended without leaving.
  left,      ///< Ended in order.
  // Of ranks whose host nobody answers for:
  ended,        ///< The host is there, the process is not.
  silent,       ///< Its kernel takes calls, and no answer comes.
  unreachable,  ///< Nothing is heard of the host.
};
const char* name(State state);

struct Seat {
  State state = State::absent;
  pid_t pid = 0;           ///< As seen from its host; 0 = there is none any more, or it is not visible.
  std::string maps;        ///< On another host: what of /proc/PID/maps names the files that it runs.
  std::string host;        ///< Its host's name; empty in a job on one host.
  std::string why_silent;  ///< Where that is its state.
  bool moved = false;      ///< It has called a collective between the two looks.
  /// What it has been waiting for, long enough to matter, without moving on; those that a thread waits for come first.
  std::vector<host::Wait> waits;
  std::optional<InMpi> mpi;                     ///< In which function of its MPI it is.
  std::optional<host::SystemCall> system_call;  ///< In which it sleeps, where that can be told.
};

struct Situation {
  Snapshot snapshot;
  std::vector<Seat> seats;  ///< By rank.
  bool moving = false;      ///< Ranks call collectives, or wait so briefly that it says nothing.

  const Seat& seat(Rank rank) const { return seats[static_cast<std::size_t>(rank)]; }
};

/// Looks twice, a tenth of a second apart, so that what merely takes its time is not taken for a hang. Of one host: its
/// ranks are told by their places there; the job has `ranks` of them, 0: all are here.
Situation observe(const Source& source, std::int32_t ranks = 0);

}  // namespace tutti::diagnose
