// SPDX-License-Identifier: BSD-3-Clause
// Text that comes from anywhere, as far as it is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::base {

/// How many bytes the first character of a text takes; 0 when it begins with none.
std::size_t character_length(std::string_view text);

/// Fit for a terminal, whatever it holds: control characters, and bytes that belong to no character, become question
/// marks.
std::string printable(std::string_view text);

}  // namespace tutti::base
