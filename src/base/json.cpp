// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <algorithm>
#include <cstdio>

#include "base/utf8.hpp"

namespace tutti::base::json {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(std::max<std::size_t>(length, 1))) {
    length = character_length(text);
    const char letter = text.front();
    if (length == 0) {
      quoted += "\xef\xbf\xbd";  // U+FFFD: one such byte would make all of a file unreadable
    } else if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
      quoted += escape;
    } else {
      quoted += text.substr(0, length);
    }
  }
  return quoted + '"';
}

}  // namespace tutti::base::json
