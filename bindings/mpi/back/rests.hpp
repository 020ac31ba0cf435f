// SPDX-License-Identifier: BSD-3-Clause
// Calls that go to the MPI while trials rest: by far the most in a program for which Tutti gains nothing. Trials lend
// their count of such calls to a place where those of all collectives lie side by side, so that a call that is passed
// on touches one page for it, and not those of the communicator, its trials and their stage. It is given back before
// anything else happens on the communicator: ranks that have it lent and ranks that have not count alike.
#pragma once

#include <array>
#include <memory>

#include "abi.hpp"
#include "choices.hpp"
#include "communicators.hpp"
#include "reductions.hpp"

namespace tutti::mpi {

/// What the trials of one collective have lent: its last communicator and size.
struct Rest {
  std::int64_t left = 0;  ///< Calls that may be passed on.
  std::uint64_t generation = 0;
  MPI_Comm handle{};
  const Communicator* with = nullptr;  ///< There as long as the generation is the same.
  int size_class = 0;
  Trials* trials = nullptr;
  std::shared_ptr<Choices> choices;  ///< Whose trials these are: to be given back to, whatever becomes of `with`.
};

/// Of programs whose threads do not call the MPI at the same time.
inline constinit std::array<Rest, kinds> rests;

/// Counts a blocking call of C, if it is one of these that are lent. False: nothing has happened.
template <class C, class... Arguments>
bool is_passed_on(MPI_Comm comm, const Arguments&... arguments) {
  Rest& rest = rests[static_cast<std::size_t>(C::kind)];
  if (rest.left == 0 || rest.handle != comm ||
      rest.generation != communicator_generation.load(std::memory_order_relaxed) || !can_combine<C>(arguments...) ||
      rest.size_class != size_class(C::size(rest.with->place, arguments...)))
    return false;
  --rest.left;
  return true;
}
/// The MPI has refused that call: the other ranks do not count it.
inline void uncount(Kind kind) { ++rests[static_cast<std::size_t>(kind)].left; }

/// Lends what may be lent: blocking calls of `with` go to the MPI, none of them is measured, and no agreement is due.
void lend(const Communicator& with, Kind kind, Count bytes, Trials& trials);
/// Gives back what this collective's trials have lent; what all have that belong to these.
void give_back(Kind kind);
void give_back_all(const Choices& choices);

}  // namespace tutti::mpi
