// SPDX-License-Identifier: BSD-3-Clause
// The GIL, and the interpreter's end: other threads of Python's may be inside Tutti then, and requests pending.
#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

/// Called by the package when the interpreter begins to end, with the GIL: from now on no other thread than this one
/// comes back from Tutti to Python, and Tutti calls nothing of Python's in another. Waits for reductions under way.
void begin_to_end();
/// A process that is forked has none of the threads that this one waits for.
void forget_threads_in_children();
/// What is pending is to be left as it is: it is lost with the process.
bool is_ending();
/// The same, and in another thread than this one.
bool is_ending_elsewhere();

/// Without the GIL as long as it lives. Before 3.14 Python ends a thread that wants the GIL back from an interpreter
/// that ends, by an unwinding that no destructor survives: such a thread stands still instead, until the process ends.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// With the GIL as long as it lives, in a thread of any kind that Tutti calls back in; without it where the interpreter
/// ends in another one.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  explicit operator bool() const { return has_it_; }

 private:
  PyGILState_STATE state_{};
  bool has_it_ = false;
};

/// Runs what may wait for other processes, or for a thread that wants the GIL, without it.
template <class Work>
auto without_gil(Work work) {
  const WithoutGil released;
  return work();
}

/// No garbage is collected as long as one lives, with the GIL: a collection may find requests and groups, whose end
/// takes locks that whoever runs a reduction holds. (Python 3.9 cannot be told.)
class WithoutCollector {
 public:
  WithoutCollector();
  ~WithoutCollector();
  WithoutCollector(const WithoutCollector&) = delete;
  WithoutCollector& operator=(const WithoutCollector&) = delete;
};

}  // namespace tutti::python
