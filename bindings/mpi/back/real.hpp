// SPDX-License-Identifier: BSD-3-Clause
// The functions of the MPI that the program has loaded, by their profiling names (PMPI_).
#pragma once

#include <string>

#include "abi.hpp"

namespace tutti::mpi {

/// Finds a function of the MPI by name, such as "MPI_Barrier"; null where it has none. Given by the front.
using Finder = void* (*)(const char* name);

/// Those that the back end itself uses.
struct Real {
#define TUTTI_MPI_REAL(name) decltype(&PMPI_##name) name = nullptr;
#include "real.def"
#undef TUTTI_MPI_REAL
  /// Of MPI 4, whose header need not be the one that this is made with. Null where this MPI is older.
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*) = nullptr;
  int (*Type_get_contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*, MPI_Count*,
                             MPI_Datatype*) = nullptr;
  /// Of MPI 4.1, likewise.
  int (*Request_get_status_all)(int, const MPI_Request*, int*, MPI_Status*) = nullptr;
  int (*Request_get_status_any)(int, const MPI_Request*, int*, int*, MPI_Status*) = nullptr;
  int (*Request_get_status_some)(int, const MPI_Request*, int*, int*, MPI_Status*) = nullptr;
};
extern Real real;

/// Fills `real`, once in a process; returns the name of a function that is missing although it must be there, or
/// nothing.
const std::string& find_real(Finder find);

/// "Open MPI 5.0.11".
std::string library_name();

}  // namespace tutti::mpi
