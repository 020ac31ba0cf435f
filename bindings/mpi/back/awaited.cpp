// SPDX-License-Identifier: BSD-3-Clause
// A message that does not come: looking for it moves on all that the MPI has to do. (MPI_Iprobe does not move MPICH's
// I-collectives on.)
#include "awaited.hpp"

#include <atomic>
#include <mutex>

#include "real.hpp"

namespace tutti::mpi::awaited {
namespace {

std::mutex users_lock;
int users = 0;

MPI_Comm comm = MPI_COMM_NULL;  // of this process alone
MPI_Request request = MPI_REQUEST_NULL;
std::atomic_flag busy;  // two threads may not look at one request at once; who finds the other there goes on

}  // namespace

void begin() {
  const std::lock_guard guard(users_lock);
  if (users++ > 0) return;
  if (real.Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS) real.Irecv(nullptr, 0, MPI_BYTE, 0, 0, comm, &request);
}

void look() {
  int flag = 0;
  // Acquire and release: one look after the other.
  if (request == MPI_REQUEST_NULL || busy.test_and_set(std::memory_order_acquire)) return;
  real.Test(&request, &flag, MPI_STATUS_IGNORE);
  busy.clear(std::memory_order_release);
}

void end() {
  const std::lock_guard guard(users_lock);
  if (--users > 0) return;
  if (request != MPI_REQUEST_NULL) real.Send(nullptr, 0, MPI_BYTE, 0, 0, comm);
  if (request != MPI_REQUEST_NULL) real.Wait(&request, MPI_STATUS_IGNORE);
  if (comm != MPI_COMM_NULL) real.Comm_free(&comm);
}

}  // namespace tutti::mpi::awaited
