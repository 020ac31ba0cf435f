// SPDX-License-Identifier: BSD-3-Clause
// What a process sleeps for in the kernel, as far as the kernel says.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tutti::host {

struct SystemCall {
  long number = -1;
  int descriptor = -1;  ///< That it reads, writes or waits on; -1: none.
  std::string file{};   ///< Behind the descriptor: a path, "pipe:[123]", "socket:[123]". Any letters may stand there.

  /// "read"; "system call 317" of one that is not known here.
  std::string name() const;
  /// "in read of /data/input (descriptor 5)", "in wait4, for a process that it has started". Printable.
  std::string text() const;
};

/// Of its first thread. Nothing when that runs, or when one may not know: it takes the right to trace the process.
std::optional<SystemCall> system_call_of(pid_t pid);

}  // namespace tutti::host
