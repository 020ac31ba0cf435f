// SPDX-License-Identifier: BSD-3-Clause
// Scans over hosts that follow each other: what scan and exscan have in common.
#pragma once

#include "collectives/compose.hpp"

namespace tutti::collectives::scan {

/// What all hosts before mine have combined, brought to everybody on it; empty on the first host. `total`: of the last
/// rank of each host, what its host has combined.
Slice hosts_before(Composition& b, const Shape& shape, Slice total);

}  // namespace tutti::collectives::scan
