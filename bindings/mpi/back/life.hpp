// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of the MPI, and what frees things that operations may still use.
#pragma once

#include "abi.hpp"

namespace tutti::mpi::life {

int init(int* argc, char*** argv) noexcept;
int init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
int op_free(MPI_Op* op) noexcept;
int type_free(MPI_Datatype* type) noexcept;

}  // namespace tutti::mpi::life
