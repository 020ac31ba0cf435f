// SPDX-License-Identifier: BSD-3-Clause
// The records of all ranks on one timeline, as a file in Chrome's trace event format, which ui.perfetto.dev and
// chrome://tracing show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/record.hpp"

namespace tutti::trace {

/// One line an event, so that it can be read line by line. Ranks that are missing are missing there, too.
/// `algorithm` names a position in the registry. Throws Error (system) when the file cannot be written.
void write_timeline(const std::string& file, std::vector<Record> records, std::string_view (*algorithm)(std::int32_t));

/// Merges what ranks have left beside `file` (part_of) and removes it. How many ranks there were.
int merge_parts(const std::string& file, std::string_view (*algorithm)(std::int32_t));

}  // namespace tutti::trace
