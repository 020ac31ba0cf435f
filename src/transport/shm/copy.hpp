// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing another process's memory in one copy, and finding out whether that is allowed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/segment.hpp"

namespace tutti::transport::shm {

/// Fills `to` from `address` in process `pid`. Returns 0, or what the system said: ESRCH = there is no such process
/// (any more), EFAULT = not all of it is memory there, EPERM = not allowed. Then `to` may be filled in part.
int read_memory(pid_t pid, std::uint64_t address, std::span<std::byte> to);

/// The same the other way: writes `from` to `address` in process `pid`. Be sure that it still is who it was.
int write_memory(pid_t pid, std::uint64_t address, std::span<const std::byte> from);

/// Whether this process may use process_vm_readv and process_vm_writev at all, as far as it can tell alone: a container
/// may forbid it, Yama may ask for privileges.
bool may_read_memory();

struct SingleCopy {
  bool works = false;
  std::string why;
};

/// Offers words of this process for others to read and to write, then reads and writes a neighbour's. Waits until the
/// neighbour has got that far too or is gone, `patience` nanoseconds at most. `allowed` = false offers, and does no
/// more.
SingleCopy probe_single_copy(host::Segment& segment, Rank self, bool allowed, std::uint64_t patience);

}  // namespace tutti::transport::shm
