// SPDX-License-Identifier: BSD-3-Clause
// Barrier: nobody leaves before everybody has come. No data, so that the contract names none.
#include "collectives/specification.hpp"

namespace tutti::collectives::barrier {

plan::Contract contract(const Problem& problem) { return nothing(problem); }

}  // namespace tutti::collectives::barrier
