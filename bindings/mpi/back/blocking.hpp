// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own blocking functions while operations of Tutti's are open in this process.
#pragma once

#include <functional>
#include <string>

#include "abi.hpp"
#include "real.hpp"

namespace tutti::mpi::blocking {

/// Tells of every function that is replaced: its name without MPI_, and the replacement.
using Teller = std::function<void(const std::string& name, void* function)>;

/// Finds the MPI's own. Those that it lacks are not replaced.
void find(Finder find);
void find_messages(Finder find);
/// Those of blocking.def.
void tell(const Teller& teller);
/// Sends, receives and probes.
void tell_messages(const Teller& teller);

/// Completes a non-blocking form of the MPI's while everything moves on.
int finish(MPI_Request& request, MPI_Status* status);

}  // namespace tutti::mpi::blocking
