// SPDX-License-Identifier: BSD-3-Clause
// Times calls inside a job.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/measurements.hpp"
#include "tutti/group.hpp"

namespace tutti::tuner {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One rank's part in all measurements: buffers for the largest of them, and the calls that are timed now.
class Bench {
 public:
  Bench(const Group& world, const std::vector<Point>& points);

  /// Makes these ready, one after the other, with one call that is not timed.
  void choose(const std::vector<Part>& parts);
  /// Seconds that they take, again and again, of the slowest rank: the same number on all ranks.
  double time(std::int64_t calls);

 private:
  Persistent ready(const Part& part);

  const Group& world_;
  std::vector<double> input_, output_;
  std::vector<Persistent> chosen_;
};

}  // namespace tutti::tuner
