// SPDX-License-Identifier: BSD-3-Clause
#include "measure/clock.hpp"

#include "base/clock.hpp"

namespace tutti::measure {

Clock monotonic() {
  return [] { return static_cast<std::int64_t>(base::now()); };
}

}  // namespace tutti::measure
