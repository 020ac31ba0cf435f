// SPDX-License-Identifier: BSD-3-Clause
// Small texts: lists of words, "a, b, c", and numbers that stand for something.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tutti::base {

/// Adds one; `between` goes before each but the first.
inline void add_word(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

/// All 16 digits: of a job, a group.
inline std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return text;
}

}  // namespace tutti::base
