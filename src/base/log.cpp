// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tutti::base {

void log(const std::string& text) {
  const char* setting = std::getenv("TUTTI_LOG");
  if (setting != nullptr && std::string_view(setting) == "off") return;
  const std::string line = "tutti: " + text + "\n";
  // One write, so that lines of several ranks do not mix; a log that cannot be written is not worth an error.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tutti::base
