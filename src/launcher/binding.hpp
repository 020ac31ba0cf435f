// SPDX-License-Identifier: BSD-3-Clause
// Which processor each rank is bound to with `tutti run --bind core`.
#pragma once

#include <string>
#include <vector>

namespace tutti::launcher {

/// The processors in `allowed` (by the system's numbers) in the order in which ranks take them: one of each core before
/// the second of any, neighbours close together (cache, package). `synthetic`: hwloc's description of a made-up
/// machine, for tests; else this one. Throws Error (system) when the machine cannot be read.
std::vector<int> binding_order(const std::vector<int>& allowed, const std::string& synthetic = {});

/// The processor of one rank of `ranks`; neighbours share one when there are more ranks than processors.
int processor_of(const std::vector<int>& order, int rank, int ranks);

}  // namespace tutti::launcher
