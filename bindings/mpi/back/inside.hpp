// SPDX-License-Identifier: BSD-3-Clause
// Notes in which of the MPI's blocking functions this process is, for `tutti why`.
#pragma once

#include "abi.hpp"
#include "host/inside.hpp"

namespace tutti::mpi {

using FunctionName = host::Inside::Name;

/// As long as it lives, the process is in that function. Of several threads, the one that has initialised the MPI
/// tells: two that wrote at once would leave a note that stays.
class Inside {
 public:
  [[gnu::always_inline]] Inside(const FunctionName& name, const void* site, int peer = -1, int tag = -1) noexcept
      : entered_(noted != nullptr && noted->enter(name, site, peer, tag) ? noted : nullptr) {}
  ~Inside() {
    if (entered_ != nullptr) entered_->leave();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  /// Where it is noted, from this thread on: in the memory of this host's ranks, once there is any. No other thread is
  /// in the MPI.
  static void note_at(host::Inside& place) noexcept { noted = &place; }
  static void note_nowhere() noexcept { noted = nullptr; }
  /// The rank of the job that this is in a communicator, where that is the world.
  static int peer(int rank, MPI_Comm comm) noexcept { return comm == MPI_COMM_WORLD ? rank : -1; }

 private:
  inline static thread_local constinit host::Inside* noted = nullptr;

  host::Inside* entered_;
};

/// A function of the MPI's that waits, with a note of it.
template <auto function>
struct Noted;
template <class... Arguments, int (*function)(Arguments...) noexcept>
struct Noted<function> {
  inline static FunctionName name{};
  static int call(Arguments... arguments) noexcept {
    const Inside inside(name, __builtin_return_address(0));
    return function(arguments...);
  }
};

}  // namespace tutti::mpi
