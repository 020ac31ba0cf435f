// SPDX-License-Identifier: BSD-3-Clause
// A rank's clock, and one that is wrong in a known way.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::measure {

/// What time it is: nanoseconds since a beginning of its own.
using Clock = std::function<std::int64_t()>;

/// This host's monotonic clock.
Clock monotonic();

/// How a clock goes wrong: it is `offset` nanoseconds ahead at time `since`, and gains `drift` seconds a second.
struct Fault {
  std::int64_t offset = 0;
  double drift = 0;
  std::int64_t since = 0;

  /// What the wrong clock shows at that time.
  std::int64_t shown(std::int64_t time) const;
};

/// A clock that goes wrong in this way.
Clock wrong(Clock right, Fault fault);

}  // namespace tutti::measure
