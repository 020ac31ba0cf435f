// SPDX-License-Identifier: BSD-3-Clause
// What the kernel knows of the processes of a segment, for readers from outside.
#pragma once

#include <sys/types.h>

#include "tutti/types.hpp"

namespace tutti::host {

/// The process that holds the life lock of one place of a segment.
struct Holder {
  bool alive = false;
  pid_t pid = 0;      ///< 0: it is not visible from here.
  char state = '\0';  ///< As state_of says.
};
/// A process does not see its own lock this way.
Holder holder_of(int segment, Rank place);

/// The letter of /proc/PID/stat: R, S, D, T (stopped), t (traced), Z (its first thread at least has ended) …; 0 when it
/// cannot be read, as that of a process that is not there.
char state_of(pid_t pid);

}  // namespace tutti::host
