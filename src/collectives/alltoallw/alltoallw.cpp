// SPDX-License-Identifier: BSD-3-Clause
// Alltoallw: alltoallv of bytes. Which types they are and where they lie is between each rank and its memory.
#include "collectives/specification.hpp"

namespace tutti::collectives::alltoallw {

plan::Contract contract(const Problem& problem) { return alltoallv::contract(problem); }

}  // namespace tutti::collectives::alltoallw
