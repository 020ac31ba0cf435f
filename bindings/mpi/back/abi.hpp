// SPDX-License-Identifier: BSD-3-Clause
// The MPI that this back end is made for: the one whose mpi.h the compiler finds. Its functions are never linked, but
// looked up in the library that the program has loaded (real.hpp).
#pragma once

#ifdef TUTTI_MPI_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

#include <cstdint>
#include <type_traits>

namespace tutti::mpi {

/// A handle as a number, whatever it is in this ABI.
template <class Handle>
std::uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uintptr_t>(handle);
  else
    return static_cast<std::uintptr_t>(static_cast<unsigned>(handle));
}

}  // namespace tutti::mpi
