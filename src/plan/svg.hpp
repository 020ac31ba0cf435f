// SPDX-License-Identifier: BSD-3-Clause
// Plans as a picture: one lane a rank, time from left to right, arrows for messages and cells.
#pragma once

#include <span>
#include <string>

#include "plan/plan.hpp"

namespace tutti::plan {

/// A self-contained SVG of all ranks' plans. A step stands one column after the latest step it waits for, as if every
/// step took the same time. `hosts`: each rank's, as in Board. Throws Error (usage) for plans that do not fit together.
std::string draw(std::span<const Plan> plans, std::span<const Rank> hosts = {});

}  // namespace tutti::plan
