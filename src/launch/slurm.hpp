// SPDX-License-Identifier: BSD-3-Clause
// A step whose srun offers no PMI (--mpi=none): what Slurm's variables say is enough for its tasks to meet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launch/environment.hpp"

namespace tutti::launch {

/// One of the several tasks of a step.
struct SlurmTask {
  Rank rank = 0;
  int size = 1;
  std::string step;   ///< "JOB.STEP"
  HostAndPort store;  ///< On the step's first host, where task 0 runs; another port for each step.
};

/// Nothing outside of a step, and in a step of one task. Throws Error (usage) when the variables make no sense, or do
/// not say where task 0 is.
std::optional<SlurmTask> find_slurm_task();

/// The first host of a list such as "login,node[003-010,12]-ib"; empty when the text is no list.
std::string first_host(std::string_view list);

}  // namespace tutti::launch
