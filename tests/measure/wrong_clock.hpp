// SPDX-License-Identifier: BSD-3-Clause
// A clock that is wrong in a known way.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "measure/clock.hpp"

namespace tutti::measure {

/// How a clock goes wrong: it is `offset` nanoseconds ahead at time `since`, and gains `drift` seconds a second.
struct Fault {
  std::int64_t offset = 0;
  double drift = 0;
  std::int64_t since = 0;

  /// What the wrong clock shows at that time.
  std::int64_t shown(std::int64_t time) const {
    return time + offset + std::llround(static_cast<double>(time - since) * drift);
  }
};

/// A clock that goes wrong in this way.
inline Clock wrong(Clock right, Fault fault) {
  return [right = std::move(right), fault] { return fault.shown(right()); };
}

}  // namespace tutti::measure
