// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <algorithm>

namespace tutti::base {

std::size_t character_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  // The Unicode Standard, table 3-7: no longer than it must be, no surrogate, nothing beyond U+10FFFF.
  const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(std::max<std::size_t>(length, 1))) {
    length = character_length(text);
    const auto last = static_cast<unsigned char>(text[length == 2 ? 1 : 0]);
    // U+0080 to U+009F are control characters, too.
    const bool control = length == 1 ? last < 0x20 || last == 0x7f : length == 2 && text[0] == '\xc2' && last < 0xa0;
    shown += length == 0 || control ? "?" : text.substr(0, length);
  }
  return shown;
}

}  // namespace tutti::base
