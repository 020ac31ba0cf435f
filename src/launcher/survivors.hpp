// SPDX-License-Identifier: BSD-3-Clause
// Finds the processes of a job, also those that ran away from their parents.
#pragma once

#include <sys/types.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace tutti::launcher {

struct Survivor {
  pid_t pid = 0;
  pid_t group = 0;
  bool dumping = false;  ///< Writes its core dump: a signal would spoil it.
};

/// All living processes that carry this secret in their environment, or are in one of the process groups; never the
/// caller itself.
std::vector<Survivor> find_survivors(const std::string& secret, std::span<const pid_t> groups);

/// Nobody is left when so many looks in a row, some 20 ms apart, have found nobody: a process that is just starting a
/// program has no environment for a moment.
inline constexpr int empty_looks = 5;

/// SIGTERM, once for each: `asked` are those who have got it.
void ask_to_end(std::span<const Survivor> survivors, std::set<pid_t>& asked);

/// A process beside the launcher that outlives it, be it killed with SIGKILL, and then ends whatever carries the job's
/// secret in its environment. The kernel kills the ranks themselves at once; this is for what they have started.
class Guard {
 public:
  /// Call it before there are ranks. Throws Error (system).
  explicit Guard(const std::string& secret);
  /// The launcher ends in order: so does the guard.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// The launcher ends, but not in order: the guard does its work, and is not waited for.
  void abandon() { alive_.reset(); }

 private:
  pid_t pid_;
  base::Descriptor alive_;  // the guard reads the other end
};

}  // namespace tutti::launcher
