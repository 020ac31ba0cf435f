// SPDX-License-Identifier: BSD-3-Clause
// Barrier: nobody leaves before everybody has come. No data.
#include "collectives/specification.hpp"

namespace tutti::collectives::barrier {

plan::Contract contract(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  contract.synchronizes = true;
  return contract;
}

}  // namespace tutti::collectives::barrier
