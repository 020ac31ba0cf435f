// SPDX-License-Identifier: BSD-3-Clause
// Small files, such as those of /proc.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <string>

namespace tutti::base {

/// "/proc/PID/what".
std::string proc(pid_t pid, const std::string& what);
/// Where a link points; empty when it cannot be read.
std::string read_link(const std::string& path);
/// A whole file, or about `most` bytes of its beginning; empty when it cannot be read.
std::string read_text(const std::string& path, std::size_t most = std::numeric_limits<std::size_t>::max());
/// What /proc/PID/stat says behind the process's name, which may hold anything: its state, its parent, its group, and
/// so on, with spaces in between. Empty when it cannot be read.
std::string read_stat(pid_t pid);

}  // namespace tutti::base
