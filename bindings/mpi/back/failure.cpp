// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include "base/log.hpp"
#include "real.hpp"

namespace tutti::mpi {

int code_of(const Error& error) {
  switch (error.cause()) {
    case Cause::usage:
      return MPI_ERR_ARG;
    case Cause::mismatch:
      return MPI_ERR_TRUNCATE;
    default:
      return MPI_ERR_OTHER;
  }
}

int fail(MPI_Comm comm, const Error& error) {
  base::log(error.what());
  const int code = code_of(error);
  real.Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::mpi
