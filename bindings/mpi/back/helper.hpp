// SPDX-License-Identifier: BSD-3-Clause
// A thread that moves Tutti's operations on while this one is inside the MPI.
#pragma once

namespace tutti::mpi {

/// On as long as somebody holds one.
class Helper {
 public:
  /// Does without when no thread is to be had.
  Helper() noexcept;
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
};

/// The result of a function of the MPI's that may wait for another rank.
template <class Function>
int with_helper(const Function& function) {
  const Helper helper;
  return function();
}

}  // namespace tutti::mpi
