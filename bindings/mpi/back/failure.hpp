// SPDX-License-Identifier: BSD-3-Clause
// Tutti's errors as MPI's.
#pragma once

#include <memory>

#include "abi.hpp"
#include "tutti/error.hpp"

namespace tutti::job {
class Member;
}

namespace tutti::mpi {

/// The class of an error, for a status.
int code_of(const Error& error);
bool is_refusal(int code);
/// What programs look for that recover from a loss, where the MPI knows ULFM.
int lost_class();
/// Whether a collective of the MPI's has ended because of this rank's own arguments: other ranks know nothing of it,
/// and it counts as one that was not called.
inline bool refused(int code) { return code != MPI_SUCCESS && is_refusal(code); }
/// As long as one lives, errors of functions that have no communicator are returned: the MPI raises them on its world,
/// or on the process's own (MPI 4.0, 9.3), when Tutti looks at an argument that the program's call has with another.
class Unraised {
 public:
  Unraised();
  ~Unraised();
  Unraised(const Unraised&) = delete;
  Unraised& operator=(const Unraised&) = delete;
};
/// Says what happened and calls the communicator's error handler, as the MPI would; returns the code.
int fail(MPI_Comm comm, const Error& error);

/// Where an operation comes from that outlives the call which has made it.
struct Origin {
  MPI_Comm comm = MPI_COMM_SELF;
  std::weak_ptr<job::Member> group;  ///< That of its I-collectives: another communicator may get the handle.
};
/// Calls the error handler of the communicator, or, where it is gone, that of the process itself (MPI 4.1, 9.3).
void raise(const Origin& origin, int code);
/// fail, for an operation that comes from there.
int fail(const Origin& origin, const Error& error);

}  // namespace tutti::mpi
