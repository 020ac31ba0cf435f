// SPDX-License-Identifier: BSD-3-Clause
// Fortran's functions that call the C ones by their profiling names: they have to be replaced themselves. These are all
// of Open MPI's, and of MPICH's those of mpi_f08 that have no buffer; MPICH's others call C's functions as a program
// would.
#pragma once

#include <functional>
#include <string>

#include "abi.hpp"
#include "fortran_values.hpp"

namespace tutti::mpi::fortran {

/// How such functions are called: prefix, the name in small letters, ending.
#ifdef OPEN_MPI
inline constexpr const char *prefix = "mpi_", *ending = "_";
#else
inline constexpr const char *prefix = "mpi_", *ending = "_f08_";
#endif

/// Tells of a replacement: its name without prefix and ending.
using Teller = std::function<void(const std::string& name, void* function)>;

/// The completion calls and those of blocking.def, for which conversions are not enough.
void tell(Finder find, const Teller& teller);

}  // namespace tutti::mpi::fortran
