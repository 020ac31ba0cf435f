// SPDX-License-Identifier: BSD-3-Clause
// The functions of the MPI that the program has loaded, by their profiling names (PMPI_).
#pragma once

#include <string>

#include "abi.hpp"

namespace tutti::mpi {

/// Finds a function of the MPI by name, such as "MPI_Barrier"; null where it has none. Given by the front.
using Finder = void* (*)(const char* name);

/// Those that the back end itself uses. Null where this MPI has none.
struct Real {
#define TUTTI_MPI_REAL(name) decltype(&PMPI_##name) name = nullptr;
#include "real.def"
#undef TUTTI_MPI_REAL
};
extern Real real;

/// Fills `real`, once in a process; returns the name of a function that is missing although it must be there, or
/// nothing.
const std::string& find_real(Finder find);

/// "Open MPI 5.0.11".
std::string library_name();

}  // namespace tutti::mpi
