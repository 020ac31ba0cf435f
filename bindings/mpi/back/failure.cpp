// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include <array>
#include <memory>
#include <mutex>

#include "base/log.hpp"
#include "communicators.hpp"
#include "real.hpp"

namespace tutti::mpi {
namespace {

/// What the first of several threads has found, and the last one restores.
struct Handlers {
  struct Handler {
    MPI_Comm of;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  };
  std::mutex lock;
  int users = 0;
  std::array<Handler, 2> all{{{MPI_COMM_WORLD}, {MPI_COMM_SELF}}};
};

Handlers& handlers() {
  static Handlers& kept = *std::make_unique<Handlers>().release();  // kept for ever: threads may outlive main
  return kept;
}

}  // namespace

int lost_class() {
#ifdef MPI_ERR_PROC_FAILED
  if (is_revoked != nullptr) return MPI_ERR_PROC_FAILED;
#endif
  return MPI_ERR_OTHER;
}

int code_of(const Error& error) {
  switch (error.cause()) {
    case Cause::usage:
      return MPI_ERR_ARG;
    case Cause::mismatch:
      return MPI_ERR_TRUNCATE;
    case Cause::peer_lost:
    case Cause::broken:
      return lost_class();
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

Unraised::Unraised() {
  const std::lock_guard guard(handlers().lock);
  if (handlers().users++ > 0) return;
  for (Handlers::Handler& one : handlers().all)
    if (real.Comm_get_errhandler(one.of, &one.before) == MPI_SUCCESS)
      real.Comm_set_errhandler(one.of, MPI_ERRORS_RETURN);
}

Unraised::~Unraised() {
  const std::lock_guard guard(handlers().lock);
  if (--handlers().users > 0) return;
  for (Handlers::Handler& one : handlers().all) {
    if (one.before == MPI_ERRHANDLER_NULL) continue;
    real.Comm_set_errhandler(one.of, one.before);
    real.Errhandler_free(&one.before);
    one.before = MPI_ERRHANDLER_NULL;
  }
}

void raise(const Origin& origin, int code) {
  const std::shared_ptr<job::Member> group = origin.group.lock();
  const Communicator* const now = group == nullptr ? nullptr : known(origin.comm);
  real.Comm_call_errhandler(now != nullptr && now->starting == group ? origin.comm : MPI_COMM_SELF, code);
}

int fail(const Origin& origin, const Error& error) {
  base::log(error.what());
  const int code = code_of(error);
  raise(origin, code);
  return code;
}

int fail(MPI_Comm comm, const Error& error) {
  base::log(error.what());
  const int code = code_of(error);
  real.Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::mpi
