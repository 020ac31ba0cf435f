// SPDX-License-Identifier: BSD-3-Clause
// A job over several hosts, looked at from one of them: each host's memory through the window of one of its ranks.
#pragma once

#include <cstdint>

#include "diagnose/situation.hpp"

namespace tutti::diagnose {

/// Ranks of the job of which this is one host's memory.
std::int32_t ranks_of(const Source& here);
/// All of its ranks, as `observe` sees those of one host. A host that does not answer is not waited for longer than two
/// seconds; its ranks are then ended, silent or unreachable, as far as its kernel tells.
Situation observe_job(const Source& here);

}  // namespace tutti::diagnose
