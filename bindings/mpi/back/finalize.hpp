// SPDX-License-Identifier: BSD-3-Clause
// What ends in MPI_Finalize.
#pragma once

#include <cstdint>
#include <functional>

namespace tutti::mpi {

/// Called by MPI_Finalize while the MPI still works, the last one first. The MPI has to be initialised. Returns a name
/// for `no_longer_at_finalize`.
std::uint64_t at_finalize(std::function<void()> end);
void no_longer_at_finalize(std::uint64_t end);

}  // namespace tutti::mpi
