// SPDX-License-Identifier: BSD-3-Clause
// Tutti's errors as MPI's.
#pragma once

#include "abi.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

/// The class of an error, for a status.
int code_of(const Error& error);
/// Says what happened and calls the communicator's error handler, as the MPI would; returns the code.
int fail(MPI_Comm comm, const Error& error);

}  // namespace tutti::mpi
