// SPDX-License-Identifier: BSD-3-Clause
// What /proc says about other processes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/proc.hpp"

namespace tutti::diagnose {

using base::proc;
using base::read_link;
using base::read_text;

/// All processes that are visible here, ascending.
std::vector<pid_t> all_processes();
/// "tutti run -n 4 ./solver", at most 80 characters.
std::string command_of(pid_t pid);

/// What one may see of a process's open files.
enum class Access { open, denied, gone };
/// Opens the shared memory of jobs that a process holds, by descriptor or by mapping, each file once.
Access open_segments(pid_t pid, const std::function<void(base::Descriptor)>& use);

}  // namespace tutti::diagnose
