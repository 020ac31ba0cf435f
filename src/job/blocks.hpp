// SPDX-License-Identifier: BSD-3-Clause
// The blocks of one rank's v-form call, and what can be seen wrong with them before anything is sent.
#pragma once

#include <span>

#include "tutti/call.hpp"

namespace tutti::job {

/// Throws Error (usage) when blocks that are written overlap, or when what this rank gives itself has another length
/// than what it takes from itself. Arrays that are too short and numbers that are no counts are the planner's.
void check_blocks(const Call& call, Rank rank, Rank size);

Count total(std::span<const Count> counts);

}  // namespace tutti::job
