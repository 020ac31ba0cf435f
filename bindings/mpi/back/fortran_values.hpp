// SPDX-License-Identifier: BSD-3-Clause
// Handles, statuses and special addresses between Fortran and C, as this MPI converts them.
#pragma once

#include "abi.hpp"
#include "real.hpp"

namespace tutti::mpi::fortran {

/// Fortran's INTEGER, unless a compiler was told to make it longer, which the C functions could not be called with.
using Integer = int;

/// Finds what the rest needs; false where the program has no Fortran.
bool find(Finder find);

/// A buffer as C names it: Fortran's MPI_IN_PLACE and MPI_BOTTOM are variables.
void* buffer(void* address);
bool is_ignored(const Integer* status);
void copy(const MPI_Status& from, Integer* to);

template <class Handle>
Handle handle(Integer number, Handle);
template <class Handle>
Integer number(Handle handle);

}  // namespace tutti::mpi::fortran
