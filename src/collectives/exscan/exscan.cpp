// SPDX-License-Identifier: BSD-3-Clause
// Exscan: rank r's output holds the `count` elements of ranks 0 ... r - 1, combined one by one in the order of the
// ranks; rank 0's output stays as it is. In place: the own elements lie in the output.
#include "collectives/specification.hpp"

namespace tutti::collectives::exscan {

plan::Contract contract(const Problem& problem) { return scan::contract(problem); }

}  // namespace tutti::collectives::exscan
