// SPDX-License-Identifier: BSD-3-Clause
// Reading another process's memory in one copy, and finding out whether that is allowed.
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

/// Whether this process may use process_vm_readv at all, as far as it can tell alone: a container may forbid it, Yama
/// may ask for privileges.
bool may_read_memory();

struct SingleCopy {
  bool works = false;
  std::string why;
};

/// Offers a word of this process for others to read, then reads a neighbour's. Waits until the neighbour has got that
/// far too or is gone, `patience` nanoseconds at most. `allowed` = false offers, but neither waits nor reads.
SingleCopy probe_single_copy(host::Segment& segment, Rank self, bool allowed, std::uint64_t patience);

}  // namespace tutti::transport::shm
