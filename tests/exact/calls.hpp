// SPDX-License-Identifier: BSD-3-Clause
// Reproducible sums as programs call them, by every algorithm: one body for ranks in one process and in many.
#pragma once

#include <string>

#include "tutti/group.hpp"

namespace tutti::testing {

/// Runs every algorithm of every reduction that can be used on a reproducible group, on all sorts of numbers; throws
/// std::logic_error that says which result was wrong. Returns how many calls were made.
int every_algorithm(const Group& group);

/// The same for sums of whole arrays, dealt in several ways.
void whole_arrays(const Group& world);

}  // namespace tutti::testing
