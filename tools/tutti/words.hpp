// SPDX-License-Identifier: BSD-3-Clause
// What people write for sizes, numbers of ranks and collectives.
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.hpp"

namespace tutti::command {

/// "8", "64K", "4M": bytes, a multiple of 8. Throws Error (usage).
Count read_size(const std::string& text);
/// "8,64K,4M": these; "8:4M": from the first to the last, each 4 times the one before; "8:4M:2": twice. Ascending.
std::vector<Count> read_sizes(const std::string& text);
/// "2,4,8". Ascending, from 2 to 1024. Throws Error (usage).
std::vector<Rank> read_ranks(const std::string& text);
/// By its name. Throws Error (usage) for what cannot be measured, too, if that is asked for.
const collectives::Collective& read_collective(const std::string& name);

}  // namespace tutti::command
