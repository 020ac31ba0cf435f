// SPDX-License-Identifier: BSD-3-Clause
// Texts of all ranks in values of the store, which are not of any length.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tutti::job {

/// All lines in their order, in as few values of at most `longest` bytes as it takes: whole lines, with a newline
/// between two. A line that is longer is a value alone.
std::vector<std::string> in_values(std::span<const std::string> lines, std::size_t longest);

/// Adds the lines of such a value.
void add_lines(std::vector<std::string>& lines, const std::string& value);

}  // namespace tutti::job
