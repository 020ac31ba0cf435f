// SPDX-License-Identifier: BSD-3-Clause
// Whether a progress thread is worth its processor time: a probe with a fixed amount of work.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tutti::job {

/// What was found, on the slowest rank of each round, in seconds.
struct Probe {
  double work = 0;  ///< The work alone, the median.
  /// An allreduce is started, the work is done, the allreduce is waited for: without the thread, and right before or
  /// after that with it.
  std::vector<double> without, with;
};

/// Rounds of a probe, and in how many of them the thread has to win. Where it makes no difference, it wins so many in
/// one probe of fifty.
inline constexpr std::size_t rounds = 9, least_won = 8;
/// The share of the median time without it that a thread has to save.
inline constexpr double least_gain = 0.05;

bool gains(const Probe& probe);
/// One line, with the numbers.
std::string describe(const Probe& probe);

/// What the probe needs of the world it probes. All ranks do the same.
struct Probed {
  std::function<void()> start;            ///< Starts the allreduce.
  std::function<void()> wait;             ///< For its end.
  std::function<void(bool)> thread;       ///< From now on with a progress thread, or without.
  std::function<double(double)> slowest;  ///< The largest of all ranks' numbers.
};

/// Collective. Takes some milliseconds with a core per rank, and some tenths of a second at most.
Probe probe(const Probed& world);

}  // namespace tutti::job
