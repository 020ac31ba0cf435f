// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait inside the MPI's own functions, of programs with MPI_THREAD_MULTIPLE: an operation that another
// thread starts meanwhile, and then leaves alone, would not move.
#pragma once

#include <atomic>

#include "helper.hpp"
#include "requests.hpp"

namespace tutti::mpi {

/// The program may call the MPI by several threads at once. Written inside MPI_Init, where there is one.
inline bool has_several_threads = false;

/// Sequentially consistent, as running_operations is where it rises: of a thread that goes into the MPI and one that
/// starts an operation, at least one sees the other.
inline std::atomic<int> blocked_threads{0};

/// A function of the MPI's that may wait for another rank, called while no operation is running.
template <class Function>
int blocked(const Function& function) {
  if (!has_several_threads) return function();
  struct Inside {
    Inside() { blocked_threads.fetch_add(1, std::memory_order_seq_cst); }
    ~Inside() { blocked_threads.fetch_sub(1, std::memory_order_relaxed); }
  };
  const Inside inside;
  return running_operations.load(std::memory_order_seq_cst) == 0 ? function() : with_helper(function);
}

/// The same at any time, for a function that has no non-blocking form.
template <class Function>
int guarded(const Function& function) {
  return resting() ? blocked(function) : with_helper(function);
}

/// Counts an operation that runs from now on, with the helper thread where somebody is blocked.
void begin_running();
void end_running();

}  // namespace tutti::mpi
