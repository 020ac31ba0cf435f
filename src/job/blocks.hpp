// SPDX-License-Identifier: BSD-3-Clause
// The blocks of one rank's v-form call, and what can be seen wrong with them before anything is sent.
#pragma once

#include <span>

#include "collectives/neighbors.hpp"
#include "tutti/call.hpp"

namespace tutti::job {

/// Whose a block is: "rank" or "neighbour".
const char* partner(Kind kind);

/// Throws Error (usage) when blocks that are written overlap, or when what this rank gives itself has another length
/// than what it takes from itself. Of arrays as long as they have to be, with numbers that the planner has checked.
/// `sources`: of the neighbor_ forms, which write nothing for an edge that leads nowhere.
void check_blocks(const Call& call, Rank rank, std::span<const collectives::Edge> sources);

Count total(std::span<const Count> counts);

}  // namespace tutti::job
