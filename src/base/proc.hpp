// SPDX-License-Identifier: BSD-3-Clause
// Small files of /proc.
#pragma once

#include <sys/types.h>

#include <string>

namespace tutti::base {

/// "/proc/PID/what".
std::string proc(pid_t pid, const std::string& what);
/// Where a link points; empty when it cannot be read.
std::string read_link(const std::string& path);
/// A whole small file; empty when it cannot be read.
std::string read_text(const std::string& path);

}  // namespace tutti::base
