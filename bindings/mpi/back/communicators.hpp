// SPDX-License-Identifier: BSD-3-Clause
// Which communicators have a group of Tutti's.
#pragma once

#include <atomic>
#include <memory>

#include "abi.hpp"
#include "choices.hpp"
#include "job/runtime.hpp"
#include "translation.hpp"

namespace tutti::mpi {

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  std::shared_ptr<job::Member> member;  ///< nullptr: everything is the MPI's.
  /// For I-collectives and persistent ones. They never match blocking ones (MPI 4.1, 6.12), and programs that start
  /// them before a blocking one on some ranks and behind it on others run on every MPI. nullptr: the MPI has them;
  /// also of communicators that may come from a session, whose requests may be open when MPI_Finalize ends Tutti.
  std::shared_ptr<job::Member> starting;
  std::shared_ptr<Choices> choices;  ///< There with a member.
  Place place;
};

/// This process has, or has had, communicators of a session: what is made from now on may come from one of them.
/// Relaxed: a program orders a constructor behind that of the communicator that it is given.
inline std::atomic<bool> has_session_communicators{false};

/// ULFM's question whether some rank has revoked it; null where the MPI has none.
inline int (*is_revoked)(MPI_Comm, int*) = nullptr;
inline bool revoked(const Communicator& communicator) {
  int flag = 0;
  return is_revoked != nullptr && is_revoked(communicator.handle, &flag) == MPI_SUCCESS && flag != 0;
}

/// Grows when a communicator is added or forgotten. Relaxed: a program orders its threads' calls with one communicator,
/// so that each sees the growth that came before; to free it during another is its error.
inline std::atomic<std::uint64_t> communicator_generation{0};

/// What a thread asked for last, found or not.
struct LastCommunicator {
  std::uint64_t generation = ~std::uint64_t{0};
  MPI_Comm handle{};  ///< Compared where the generation fits, and not before.
  Communicator* communicator = nullptr;
};
inline thread_local constinit LastCommunicator last_communicator;

Communicator* look_up(MPI_Comm comm, std::uint64_t generation);
/// What is known of a communicator; nullptr for one that has not been seen.
inline Communicator* known(MPI_Comm comm) {
  const std::uint64_t generation = communicator_generation.load(std::memory_order_relaxed);
  const LastCommunicator& last = last_communicator;
  return last.generation == generation && last.handle == comm ? last.communicator : look_up(comm, generation);
}

/// When the MPI ends: what is called with them afterwards is its error, and no longer Tutti's call.
void forget_all();

/// As long as it lives, this thread is inside the MPI's call that frees a communicator. The program's own functions
/// that delete attributes may still call collectives with it, before or behind `forget`: what is known of it stays as
/// it is until the call has ended, and if nothing is known, nothing is made.
class Leaving {
 public:
  explicit Leaving(MPI_Comm comm);
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  /// The MPI has freed it, and may have given its handle to another.
  void is_gone() { is_gone_ = true; }
  static bool has(MPI_Comm comm);

 private:
  inline static thread_local constinit Leaving* innermost = nullptr;

  MPI_Comm handle_;
  std::shared_ptr<Communicator> communicator_;
  Leaving* outer_;
  bool is_gone_ = false;
};

/// Makes its group, which takes the place of what was known of an earlier one with this handle. Collective: called at
/// the end of its constructor, or of its first blocking collective where the constructor was not seen: there ranks may
/// wait for each other, and a rank whose call the MPI has refused must not.
void prepare(MPI_Comm comm);

}  // namespace tutti::mpi
