// SPDX-License-Identifier: BSD-3-Clause
#include "base/ticks.hpp"

#include <fstream>
#include <string>

namespace tutti::base {

bool has_even_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return file >> source && source == "tsc";
}

}  // namespace tutti::base
