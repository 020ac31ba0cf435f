// SPDX-License-Identifier: BSD-3-Clause
// Measures inside a job: alternating rounds over all points, in which candidates that lose clearly are dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tune/source.hpp"
#include "tuner/measurements.hpp"
#include "tutti/group.hpp"

namespace tutti::tuner {

struct Plan {
  std::vector<Kind> kinds;
  std::vector<Count> sizes;  ///< Bytes of a block; collectives without data have one point.
  double seconds = 60;       ///< No point is begun later; guidelines may take a fifth more.
  int rounds = 9;            ///< At most.
  double batch = 4e-3;       ///< Seconds of calls between two looks at the clock.
  std::uint64_t seed = 1;    ///< Of the order within rounds.
};

/// Collective. All ranks have the same plan and machine; rank 0's result is complete. `progress` is called on rank 0
/// after each round, with how many have been made and how many candidates are left to measure. At the end, what seems
/// to break a guideline is measured beside the other side of it.
Measurements measure(const Group& world, const Plan& plan, const tune::Machine& machine,
                     const std::function<void(int rounds, std::size_t left)>& progress);

/// Which candidates of a point need no further round: those far behind, and those behind beyond doubt. The two fastest
/// stay, and so do the fastest of those that need less than the fastest: no memory of others, any order, any number of
/// ranks. (One whose first call takes long, and ten times as long as another's, is dropped before.)
void drop_losers(Point& point);

/// What a plan asks for that is not measured on so many ranks, for want of memory; empty: nothing.
std::string left_out(const Plan& plan, Rank ranks);

/// How long this process needs to combine two runs of doubles of these sizes.
std::vector<Combining> measure_combining(const std::vector<Count>& sizes);

}  // namespace tutti::tuner
