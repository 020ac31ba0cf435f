// SPDX-License-Identifier: BSD-3-Clause
// Handing a segment to the other processes of a host where no launcher of ours does it: one process has it, the others
// know its address and the secret.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "launch/secret.hpp"

namespace tutti::launch {

/// Listens from its making on, so that the others may be told of it.
class Handover {
 public:
  /// Throws Error (system).
  Handover(const host::Segment& segment, const Secret& secret);

  /// Gives the segment to all other ranks, each once; whoever does not know the secret, is another user or speaks
  /// another version is refused and costs no more than time. Returns the ranks that did not come in time.
  int serve(std::chrono::nanoseconds patience);

 private:
  const host::Segment& segment_;
  Secret secret_;
  base::Descriptor listener_;
};

/// The segment of a job, from the process that serves it. Throws Error (system, timeout).
std::shared_ptr<host::Segment> fetch_segment(std::uint64_t job, const Secret& secret, Rank rank, int size,
                                             std::chrono::nanoseconds patience);

}  // namespace tutti::launch
