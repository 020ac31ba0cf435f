// SPDX-License-Identifier: BSD-3-Clause
// Overlap of computation and communication as a loop that others can use: a ring of buffers, each computed into, sent
// off, and waited for only when it is needed again.
// Source: T. Hoefler, P. Gottschling, A. Lumsdaine, "Leveraging non-blocking collective communication in
// high-performance applications", SPAA 2008, doi 10.1145/1378533.1378554.
#pragma once

#include <cstddef>
#include <span>

#include "tutti/types.hpp"

namespace tutti {

/// Runs computations until there are no more, with buffers.size() - 1 communications under way while one computes: at
/// least one buffer.
///
///     compute(buffer, k)   the k-th computation, into a buffer that is free; false: there was nothing more to do
///     start(buffer)        starts the non-blocking operations on it
///     finish(buffer)       waits for them and uses what came; called in the order of start, before the buffer is used
///                          again, and for all that are left at the end
///
/// Where start and finish use collectives, compute must return false at the same k on all ranks. An exception leaves
/// the loop at once: operations under way stay with the buffers' requests.
template <class Buffer, class Compute, class Start, class Finish>
void pipeline(std::span<Buffer> buffers, Compute compute, Start start, Finish finish) {
  const auto size = static_cast<Count>(buffers.size());
  const auto at = [&](Count k) -> Buffer& { return buffers[static_cast<std::size_t>(k % size)]; };
  Count started = 0, finished = 0;
  for (;; ++started) {
    if (started - finished == size) finish(at(finished++));
    if (!compute(at(started), started)) break;
    start(at(started));
  }
  while (finished < started) finish(at(finished++));
}

}  // namespace tutti
