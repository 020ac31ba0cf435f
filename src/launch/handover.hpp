// SPDX-License-Identifier: BSD-3-Clause
// Handing a segment to the other processes of a host where no launcher of ours does it: one process has it, the others
// know its address and the secret.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "launch/conversation.hpp"
#include "launch/secret.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

/// Listens from its making on, so that the others may be told of it.
class Handover {
 public:
  /// Of the job, while the others have not all come: read when the descriptor (-1 = none) is readable. What `hear`
  /// throws ends the serving.
  struct News {
    int descriptor = -1;
    std::function<void()> hear{};
  };

  /// At a socket that listens already.
  Handover(const host::Segment& segment, const Secret& secret, base::Descriptor listener);

  /// Gives the segment to all other ranks, each once; whoever does not know the secret, is another user or speaks
  /// another version is refused and costs no more than time. Returns the number of ranks that did not come in time.
  /// Throws Error (interrupted, system).
  int serve(const Deadline& deadline, const News& news);
  int serve(const Deadline& deadline) { return serve(deadline, News{}); }

 private:
  const host::Segment& segment_;
  Secret secret_;
  base::Descriptor listener_;
};

/// The segment of a job, from the process that serves it at this address. Throws Error (system, timeout).
std::shared_ptr<host::Segment> fetch_segment(const Address& address, std::uint64_t job, const Secret& secret, Rank rank,
                                             int size, Deadline& deadline);

}  // namespace tutti::launch
