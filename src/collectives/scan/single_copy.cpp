// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its data, makes the results of all ranks for one share of it in scratch, exposes
// those, and collects its own. Bandwidth: the work is shared, nobody waits for a chain. Cost: 3 alpha + 3 beta n +
// gamma n.
//
//     P = 3     0             1             2
//     combine   a: 01 012     b: 01 012     c: 01 012
//     collect   0             01: a b c     012: a b c
#include "collectives/scan/shares.hpp"

namespace tutti::collectives::scan {

plan::Plan single_copy(const Shape& shape) { return scan::by_shares(shape, 1); }

}  // namespace tutti::collectives::scan
