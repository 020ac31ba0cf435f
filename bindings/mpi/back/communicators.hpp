// SPDX-License-Identifier: BSD-3-Clause
// Which communicators have a group of Tutti's.
#pragma once

#include <memory>

#include "abi.hpp"
#include "choices.hpp"
#include "job/runtime.hpp"
#include "translation.hpp"

namespace tutti::mpi {

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::shared_ptr<job::Member> member;  ///< nullptr: everything is the MPI's.
  /// For I-collectives and persistent ones. They never match blocking ones (MPI 4.1, 6.12), and programs that start
  /// them before a blocking one on some ranks and behind it on others run on every MPI. nullptr: the MPI has them.
  std::shared_ptr<job::Member> starting;
  std::shared_ptr<Choices> choices;  ///< There with a member.
  Place place;
};

/// ULFM's question whether some rank has revoked it; null where the MPI has none.
inline int (*is_revoked)(MPI_Comm, int*) = nullptr;
inline bool revoked(const Communicator& communicator) {
  int flag = 0;
  return is_revoked != nullptr && is_revoked(communicator.handle, &flag) == MPI_SUCCESS && flag != 0;
}

/// What is known of a communicator; nullptr for one that has not been seen.
Communicator* known(MPI_Comm comm);
/// The same, and makes its group when there is none yet. Collective: called inside its constructor and inside blocking
/// collectives, where ranks may wait for each other.
Communicator* prepared(MPI_Comm comm);

}  // namespace tutti::mpi
