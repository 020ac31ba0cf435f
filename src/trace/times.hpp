// SPDX-License-Identifier: BSD-3-Clause
// From a rank's counter to the one time of all ranks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "measure/synchronise.hpp"
#include "trace/record.hpp"

namespace tutti::trace {

/// The last time that a rank has noted.
std::uint64_t latest(const Record& record);
/// Of how many calls an event is the one that is noted: messages all are.
inline std::uint64_t stands_for(const Event& event) {
  return event.what == What::message ? 1 : stands_for(event.sequence);
}

/// Ranks of one host share a clock. The clocks of hosts are compared by their first ranks, at the start and at the end:
/// rank 0 has noted both.
class Times {
 public:
  /// It and `at` throw Error (system) for times that no clock shows.
  explicit Times(const std::vector<Record>& records);

  /// Nanoseconds of rank 0's clock, of what a rank's counter showed.
  std::int64_t at(const Record& record, std::uint64_t ticks) const;
  /// When an event began and ended; what has not ended lasts until the rank has noted its latest. Throws Error (system)
  /// for one that lasts longer than anything can.
  std::pair<std::int64_t, std::int64_t> ends(const Record& record, const Event& event, std::uint64_t latest) const;
  /// How wrong that is at most, as long as the clocks drift apart evenly.
  std::int64_t error(const Record& record, std::uint64_t ticks) const;
  /// Clocks were compared at the start alone, and drift is not known; or never, and several hosts have nothing in
  /// common; or ranks of a host died so early that nobody knows how fast its counter goes.
  enum class Quality : std::uint8_t { exact, without_drift, unknown, without_rate };
  Quality quality() const { return quality_; }

 private:
  std::int64_t local(const Record& record, std::uint64_t ticks) const;

  std::vector<measure::Timeline> hosts_;
  std::vector<double> rates_;  // nanoseconds a tick, of each host
  Quality quality_ = Quality::exact;
};

}  // namespace tutti::trace
