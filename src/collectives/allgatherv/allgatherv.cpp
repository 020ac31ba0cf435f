// SPDX-License-Identifier: BSD-3-Clause
// Allgatherv: allgather with a count and an offset for each rank's block; everybody knows all counts.
#include "collectives/specification.hpp"

namespace tutti::collectives::allgatherv {

plan::Contract contract(const Problem& problem) { return allgather::contract(problem); }

}  // namespace tutti::collectives::allgatherv
