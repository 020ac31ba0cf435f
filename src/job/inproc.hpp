// SPDX-License-Identifier: BSD-3-Clause
// A whole job inside one process: for tests, for P = 1000 on a laptop, for bad interleavings by seed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/segment.hpp"
#include "transport/inproc/scheduler.hpp"
#include "tutti/group.hpp"

namespace tutti::job {

struct InprocOptions {
  bool fibers = false;          ///< Deterministic fibers in one thread instead of P threads.
  std::uint64_t seed = 0;       ///< Order of the fibers and delays of messages; 0 = in turn, no delays.
  std::string algorithms = {};  ///< Like TUTTI_ALGORITHMS.
  bool single_copy = true;
  int cores = 0;  ///< That the ranks believe to have, which decides how they wait; 0 = this machine's, 1 with fibers.
  bool board = true;  ///< Off: as if every rank were on a host of its own.
  /// The host of each rank, numbered by their lowest ranks; empty: all share one.
  std::vector<Rank> hosts = {};
  std::uint64_t timeout = 0;
  /// Called before the ranks start, for a test that strikes a rank in the middle: it freezes the fiber and declares the
  /// rank dead. The first is nullptr without fibers; the second is the first host's.
  std::function<void(transport::inproc::Fibers*, host::Segment&)> watch = {};
};

/// Runs `body` once per rank, with its world. The first exception is thrown again when all ranks have ended.
void run_inproc(int size, const InprocOptions& options, const std::function<void(Group world)>& body);

}  // namespace tutti::job
