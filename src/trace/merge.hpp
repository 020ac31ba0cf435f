// SPDX-License-Identifier: BSD-3-Clause
// The records of all ranks on one timeline, as a file in Chrome's trace event format, which ui.perfetto.dev and
// chrome://tracing show.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/record.hpp"

namespace tutti::trace {

/// One line an event, so that it can be read line by line. Ranks that are missing are missing there, too.
/// `algorithm` names a position in the registry. The file is there as a whole, or as it was before: then Error (system)
/// is thrown. `check` is called when all is written, before it is put there, and may throw.
void write_timeline(
    const std::string& file, std::vector<Record> records, std::string_view (*algorithm)(std::int32_t),
    const std::function<void()>& check = [] {});

}  // namespace tutti::trace
