// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point between the processes of a host, through the segment's pair area. Small messages go without asking; of
// those that have no receive yet a process keeps about 1 MiB for each peer, and later ones are announced as large ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "host/segment.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::shm {

struct Options {
  std::size_t eager = 4096;                  ///< Largest message that goes through the ring at once; 16 KiB at most.
  std::size_t piece = std::size_t{1} << 20;  ///< Bytes of a large message that one call of `progress` reads.
  bool single_copy = true;                   ///< False: as where process_vm_readv is forbidden.
  std::uint64_t patience = 60'000'000'000;   ///< Nanoseconds to wait for the neighbour (see connect).
  std::function<void(Peer)> wake;            ///< Called when something was put before a process: Waiting::ring(peer).
};

/// The transport of process `self`, which has entered the segment. Waits for rank self + 1 to come here too, to find
/// out whether it may be read: all processes of the job connect, and none waits for another before that. One per
/// process and segment.
std::unique_ptr<Transport> connect(std::shared_ptr<host::Segment> segment, Rank self, Options options = {});

}  // namespace tutti::transport::shm
