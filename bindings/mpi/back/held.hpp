// SPDX-License-Identifier: BSD-3-Clause
// Operators and datatypes of the program's, which it may free while operations that it has started, or prepared, still
// combine elements with them.
#pragma once

#include <memory>

#include "reductions.hpp"

namespace tutti::mpi {

/// What is freed meanwhile, the last of these gives to the MPI. Not to be destroyed under a lock: the MPI then calls
/// the program's own functions that delete attributes.
struct Held {
  std::shared_ptr<void> op, type;
};
Held hold(const Reduction& reduction);

/// The program frees it: true when somebody holds it, who sees to it; else it is the caller's to free.
bool keep_op(MPI_Op op);
bool keep_type(MPI_Datatype type);

}  // namespace tutti::mpi
