// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about a world, and what of it all ranks agree on.
#pragma once

#include <cstdint>
#include <string>

#include "job/offer.hpp"
#include "job/runtime.hpp"
#include "tune/source.hpp"
#include "tutti/types.hpp"

namespace tutti::job {

/// Nanoseconds, of TUTTI_TIMEOUT=2.5; 0 when it is not set. Throws Error (usage).
std::uint64_t timeout_from_environment();

/// What this rank's environment says about selection. Throws Error (usage) on the rank whose environment is wrong.
Offer own_offer(const tune::Source& source);

/// A process as far as it is known by what all ranks agreed on and what this rank's environment says; `own`: this
/// rank's table, for `tutti info`. Throws Error (usage).
Process process_from_environment(const Offer& agreed, const tune::Source& own);

/// A rank whose own environment says something else than rank 0's is told so.
void compare(Rank rank, const Offer& mine, const Offer& theirs);

}  // namespace tutti::job
