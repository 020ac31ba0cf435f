// SPDX-License-Identifier: BSD-3-Clause
// What an MPI datatype is to Tutti: where its bytes lie.
#pragma once

#include <atomic>
#include <memory>

#include "abi.hpp"
#include "tutti/layout.hpp"
#include "tutti/types.hpp"

namespace tutti::mpi {

struct Datatype {
  Layout layout;       ///< Of one element, with MPI's lower bound and extent.
  Count size = 0;      ///< Bytes that move.
  Count extent = 0;    ///< From one element to the next.
  Count begin = 0;     ///< Where the first byte of a dense one lies.
  bool dense = false;  ///< Elements follow each other without gaps, their bytes in order.
};

/// Grows when a datatype or an operation is forgotten, whose handle may be given to another. Relaxed: a handle that is
/// freed while another thread uses it is an error of the program.
inline std::atomic<std::uint64_t> handle_generation{1};

/// What this datatype is; null where it is none (MPI_DATATYPE_NULL, or freed). Kept until the datatype is freed.
const Datatype* datatype(MPI_Datatype type);

}  // namespace tutti::mpi
