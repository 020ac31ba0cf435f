// SPDX-License-Identifier: BSD-3-Clause
// Memory of the segment that a program computes in: the other processes of the host reach it as they reach their own,
// where a copy of other memory goes through the system, page by page.
#pragma once

#include <cstddef>
#include <memory>

#include "host/segment.hpp"

namespace tutti::host {

/// `bytes` bytes for the program, zeroed, at the beginning of a page. They stay when the process leaves the job. Throws
/// Error (system) when the segment is full.
std::byte* lend(const std::shared_ptr<Segment>& segment, std::size_t bytes);

/// Takes back what was lent, for others to have; whether it had been lent by this process. In a child of fork, whose
/// parent goes on with it, it is only forgotten.
bool take_back(std::byte* memory);

/// Where these bytes lie in the segment; 0 where they are not all of one loan of this segment.
Offset find_lent(const Segment& segment, const std::byte* memory, std::size_t bytes);

}  // namespace tutti::host
