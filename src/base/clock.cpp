// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.hpp"

#include <ctime>

namespace tutti::base {

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace tutti::base
