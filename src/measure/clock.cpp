// SPDX-License-Identifier: BSD-3-Clause
#include "measure/clock.hpp"

#include <cmath>
#include <utility>

#include "base/clock.hpp"

namespace tutti::measure {

Clock monotonic() {
  return [] { return static_cast<std::int64_t>(base::now()); };
}

std::int64_t Fault::shown(std::int64_t time) const {
  return time + offset + std::llround(static_cast<double>(time - since) * drift);
}

Clock wrong(Clock right, Fault fault) {
  return [right = std::move(right), fault] { return fault.shown(right()); };
}

}  // namespace tutti::measure
