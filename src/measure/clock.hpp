// SPDX-License-Identifier: BSD-3-Clause
// A rank's clock.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::measure {

/// What time it is: nanoseconds since a beginning of its own.
using Clock = std::function<std::int64_t()>;

/// This host's monotonic clock.
Clock monotonic();

}  // namespace tutti::measure
