// SPDX-License-Identifier: BSD-3-Clause
// This machine as tables of algorithms know it.
#pragma once

#include "tune/source.hpp"

namespace tutti::job {

/// Unless TUTTI_SINGLE_COPY says no. Throws Error (usage).
bool single_copy_wanted();

/// `cores`: usable by all ranks of the job. Whether single copy works is only known once the ranks have tried; until
/// then it is what this process may do.
tune::Machine this_machine(int cores);

}  // namespace tutti::job
