// SPDX-License-Identifier: BSD-3-Clause
// Alltoallv: alltoall with a count and an offset for each block; a rank knows what it sends and receives itself.
#include "collectives/specification.hpp"

namespace tutti::collectives::alltoallv {

plan::Contract contract(const Problem& problem) { return alltoall::contract(problem); }

}  // namespace tutti::collectives::alltoallv
