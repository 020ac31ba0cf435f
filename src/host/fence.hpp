// SPDX-License-Identifier: BSD-3-Clause
// Full fences: one thread's own, and one that a thread makes for all others.
#pragma once

#include <atomic>

#include "base/sanitizers.hpp"

namespace tutti::host {

/// Orders all earlier stores before all later loads. ThreadSanitizer knows no fences, so it gets a read-modify-write
/// (no data race here depends on the fence: what is read is acquired from a cell, a ring or the bell).
inline void full_fence() {
#ifdef TUTTI_THREAD_SANITIZER
  static std::atomic<unsigned> word{0};
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);  // a warning under ThreadSanitizer, even where it is never run
#endif
}

/// From now on `fence_everywhere` reaches the threads of this process. False where the kernel does not offer it.
bool join_fences();

/// A full fence in this thread and in each running thread of all processes that have joined, on the whole machine, so
/// that those need none of their own on a path that is taken more often (membarrier(2), global expedited:
/// microseconds). False, and no fence, where the kernel refuses.
bool fence_everywhere();

}  // namespace tutti::host
