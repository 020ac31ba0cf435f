// SPDX-License-Identifier: BSD-3-Clause
// Gatherv: gather with a count and an offset for each rank's block; a sender knows its own count alone.
#include "collectives/specification.hpp"

namespace tutti::collectives::gatherv {

plan::Contract contract(const Problem& problem) { return gather::contract(problem); }

}  // namespace tutti::collectives::gatherv
