// SPDX-License-Identifier: BSD-3-Clause
// Memory that a program asks its MPI for: where the ranks of a host share some, it is of that.
#pragma once

#include "abi.hpp"

namespace tutti::mpi::memory {

/// With hints for the MPI it is the MPI's, and so are a few bytes, and all where Tutti has none (left).
int alloc_mem(MPI_Aint size, MPI_Info info, void* base) noexcept;
int free_mem(void* base) noexcept;

}  // namespace tutti::mpi::memory
