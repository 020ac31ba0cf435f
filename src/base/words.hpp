// SPDX-License-Identifier: BSD-3-Clause
// Texts that list some words: "a, b, c".
#pragma once

#include <string>
#include <string_view>

namespace tutti::base {

/// Adds one; `between` goes before each but the first.
inline void add_word(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

}  // namespace tutti::base
