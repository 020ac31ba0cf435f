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

bool is_refusal(int code) {
  int of = code;
  real.Error_class(code, &of);
  switch (of) {
    case MPI_ERR_ARG:
    case MPI_ERR_BUFFER:
    case MPI_ERR_COMM:
    case MPI_ERR_COUNT:
    case MPI_ERR_OP:
    case MPI_ERR_ROOT:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_TYPE:
      return true;
    default:
      return false;
  }
}

Unraised::Unraised() : handlers_{{{MPI_COMM_WORLD}, {MPI_COMM_SELF}}} {
  for (Handler& one : handlers_)
    if (real.Comm_get_errhandler(one.of, &one.before) == MPI_SUCCESS)
      real.Comm_set_errhandler(one.of, MPI_ERRORS_RETURN);
}

Unraised::~Unraised() {
  for (Handler& one : handlers_) {
    if (one.before == MPI_ERRHANDLER_NULL) continue;
    real.Comm_set_errhandler(one.of, one.before);
    real.Errhandler_free(&one.before);
  }
}

int fail(MPI_Comm comm, const Error& error) {
  base::log(error.what());
  const int code = code_of(error);
  real.Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::mpi
