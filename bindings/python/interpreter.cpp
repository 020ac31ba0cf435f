// SPDX-License-Identifier: BSD-3-Clause
#include "interpreter.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tutti::python {

namespace {

// Of the thread that ends the interpreter; 0: none does. Sequentially consistent, as `inside` is: of a thread that goes
// for the GIL and the one that ends the interpreter, at least one sees the other.
std::atomic<unsigned long> ender{0};
// Threads that go for the GIL, or run a reduction with it.
std::atomic<int> inside{0};

/// Counts this thread, or not: then the interpreter ends elsewhere.
bool enter() {
  inside.fetch_add(1, std::memory_order_seq_cst);
  if (!is_ending_elsewhere()) return true;
  inside.fetch_sub(1, std::memory_order_seq_cst);
  return false;
}

}  // namespace

bool is_ending() { return ender.load(std::memory_order_seq_cst) != 0; }

bool is_ending_elsewhere() {
  const unsigned long thread = ender.load(std::memory_order_seq_cst);
  return thread != 0 && thread != PyThread_get_thread_ident();
}

void begin_to_end() {
  ender.store(PyThread_get_thread_ident(), std::memory_order_seq_cst);
  // Those that have not seen it get the GIL now, and see it the next time.
  const WithoutGil released;
  while (inside.load(std::memory_order_seq_cst) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void forget_threads_in_children() {
  pthread_atfork(nullptr, nullptr, [] { inside.store(0, std::memory_order_seq_cst); });
}

WithoutGil::~WithoutGil() {
  while (!enter()) pause();
  PyEval_RestoreThread(state_);
  inside.fetch_sub(1, std::memory_order_seq_cst);
}

WithGil::WithGil() {
  if (!enter()) return;
  state_ = PyGILState_Ensure();
  has_it_ = true;
}

WithGil::~WithGil() {
  if (!has_it_) return;
  PyGILState_Release(state_);
  inside.fetch_sub(1, std::memory_order_seq_cst);
}

#if PY_VERSION_HEX >= 0x030A0000
namespace {
int without_collector = 0;  // both guarded by the GIL, which a reduction may pass on to another one
bool collector_was_on = false;
}  // namespace

WithoutCollector::WithoutCollector() {
  if (without_collector++ == 0) collector_was_on = PyGC_Disable() != 0;
}

WithoutCollector::~WithoutCollector() {
  if (--without_collector == 0 && collector_was_on) PyGC_Enable();
}
#else
WithoutCollector::WithoutCollector() = default;
WithoutCollector::~WithoutCollector() = default;
#endif

}  // namespace tutti::python
