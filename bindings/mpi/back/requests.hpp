// SPDX-License-Identifier: BSD-3-Clause
// The requests of I-collectives and persistent collectives: real MPI requests, each with an operation of Tutti's behind
// it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "abi.hpp"
#include "failure.hpp"
#include "held.hpp"
#include "job/runtime.hpp"
#include "tutti/request.hpp"

namespace tutti::mpi {

/// Operations that are started and not complete, or whose failure nobody has heard of: while there are none, every call
/// that completes requests goes straight to the MPI. Relaxed throughout: a thread's own operations are what it must
/// see.
inline std::atomic<int> open_operations{0};
inline bool idle() { return open_operations.load(std::memory_order_relaxed) == 0; }
/// Those of them that have failed unheard, which no wait moves on: a program may have thrown their requests away.
inline std::atomic<int> failed_operations{0};
inline bool is_settled() {
  return open_operations.load(std::memory_order_relaxed) == failed_operations.load(std::memory_order_relaxed);
}

/// Persistent ones, started or not. Relaxed as well.
inline std::atomic<int> persistent_operations{0};
inline bool has_persistent() { return persistent_operations.load(std::memory_order_relaxed) != 0; }

/// The started ones of them: other ranks may wait for this one to move them on. Relaxed as well, but for threads that
/// are blocked (blocked.hpp).
inline std::atomic<int> running_operations{0};
inline bool resting() { return running_operations.load(std::memory_order_relaxed) == 0; }

/// A generalised request that completes with the operation. Returns an MPI error code. `held`: as long as it is open.
int hand_out(Request operation, Held held, Origin origin, MPI_Request* request);
/// An inactive persistent request, to receive nothing from nobody. `held`: until it is freed.
int hand_out(std::shared_ptr<job::Member> member, std::unique_ptr<const job::Prepared> prepared, Held held,
             Origin origin, MPI_Request* request);
/// A group for one persistent collective alone: they are matched in the order in which they are made, and may be
/// started in any. Collective; nullptr, on all ranks, where there is no memory for it.
std::shared_ptr<job::Member> apart(job::Member& from);

/// The MPI has asked for the status of a request of an I-collective: set by this thread's calls, reset by who looks.
inline thread_local bool asked_for_status = false;

/// What an I-collective has failed with. The MPI learns of none: it would raise it on MPI_COMM_WORLD.
struct Failure {
  MPI_Request request;
  Origin origin;
  int code;
};
/// Of the requests that the MPI has called complete in this thread since the last call.
std::vector<Failure> take_failures();

/// Starts the operation of a persistent request, and false when it has none; `code` is the start's.
bool start_persistent(MPI_Request request, int& code);
/// A request is freed: so is what was behind it.
void forget_persistent(MPI_Request request);

/// Moves all operations on and completes the requests whose operations are done.
void progress();
/// Waits until `done`, moving everything on: operations and the MPI.
void wait_until(const std::function<bool()>& done);

/// How a request that may be persistent is. While it runs, and until its end is collected, it looks inactive to the
/// MPI.
enum class State : std::uint8_t { not_active, running, finished };
State state_of(MPI_Request request);
/// The program has been told that it is finished. Returns what the operation ended with.
int collect(MPI_Request request);

}  // namespace tutti::mpi
