// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <cstdio>

namespace tutti::base::json {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
      quoted += escape;
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

}  // namespace tutti::base::json
