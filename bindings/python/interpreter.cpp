// SPDX-License-Identifier: BSD-3-Clause
#include "interpreter.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tutti::python {

namespace {

// Of the thread that ends the interpreter; 0: none does. Sequentially consistent, as `returning` is: of a thread that
// goes for the GIL and the one that ends the interpreter, at least one sees the other.
std::atomic<unsigned long> ender{0};
std::atomic<int> returning{0};

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
  while (returning.load(std::memory_order_seq_cst) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

WithoutGil::~WithoutGil() {
  returning.fetch_add(1, std::memory_order_seq_cst);
  if (is_ending_elsewhere()) {
    returning.fetch_sub(1, std::memory_order_seq_cst);
    while (true) pause();
  }
  PyEval_RestoreThread(state_);
  returning.fetch_sub(1, std::memory_order_seq_cst);
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
