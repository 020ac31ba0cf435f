// SPDX-License-Identifier: BSD-3-Clause
// Scatterv: scatter with a count and an offset for each rank's block; a receiver knows its own count alone.
#include "collectives/specification.hpp"

namespace tutti::collectives::scatterv {

plan::Contract contract(const Problem& problem) { return scatter::contract(problem); }

}  // namespace tutti::collectives::scatterv
