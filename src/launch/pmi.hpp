// SPDX-License-Identifier: BSD-3-Clause
// The lines of PMI-1: "cmd=get kvsname=k key=a\n" and the answer "cmd=get_result rc=0 value=b\n".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::launch::pmi {

inline constexpr std::size_t longest_line = 65536;

/// The value of a word "name=value" in a line; nothing when there is none. Words are separated by blanks.
std::optional<std::string> field(std::string_view line, std::string_view name);

/// Whether a line is the answer of this name, and says that it went well: "rc" is 0 or missing.
bool succeeded(std::string_view line, std::string_view answer);

}  // namespace tutti::launch::pmi
