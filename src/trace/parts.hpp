// SPDX-License-Identifier: BSD-3-Clause
// The files in which the ranks of a job note down what they do, beside the trace that is made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::trace {

/// "FILE.00c0ffee00c0ffee.3.part": jobs that have one FILE do not share any.
std::string part_of(const std::string& file, std::uint64_t job, Rank rank);

/// Makes the trace `file` of what the ranks of one job have left beside it: of `job`, or else of the newest. One line
/// says which parts of others stay, one for each part that is damaged, and one which ranks still record. Returns what
/// is to be removed by whoever has read the trace back: none when ranks still record; nothing when nothing was merged.
/// Throws Error (usage) for a file that is newer than the job and was not made of it while it recorded, and Error
/// (system).
std::optional<std::vector<std::string>> merge_parts(const std::string& file,
                                                    std::string_view (*algorithm)(std::int32_t),
                                                    std::optional<std::uint64_t> job = std::nullopt);
void remove_parts(const std::vector<std::string>& parts);

}  // namespace tutti::trace
