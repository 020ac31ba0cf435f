// SPDX-License-Identifier: BSD-3-Clause
// Finds the jobs of this machine: through the launchers' sockets, and through the shared memory that processes hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace tutti::diagnose {

struct Job {
  std::uint64_t id = 0;
  pid_t launcher = 0;        ///< 0: gone, or there never was one.
  base::Descriptor segment;  ///< Empty: it cannot be looked into.
  std::string problem;       ///< Why not.
};

/// "0123456789abcdef".
std::string name_of(std::uint64_t job);

/// All jobs, by number.
std::vector<Job> find_jobs();
/// The job of that number ("0123456789abcdef", also as its socket is called), or the one whose launcher or rank has
/// that PID, be it alive or dead. Throws Error (usage when it means nothing; system when it may not be seen).
Job find_job(const std::string& which);

}  // namespace tutti::diagnose
