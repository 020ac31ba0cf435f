// SPDX-License-Identifier: BSD-3-Clause
// The forms of a collective - blocking, I-, _init; with counts of int or of 64 bits - made from its one description.
#pragma once

#include <utility>

#include "communicators.hpp"
#include "failure.hpp"
#include "policy.hpp"
#include "real.hpp"
#include "requests.hpp"

namespace tutti::mpi {

/// A collective C whose counts have type N and displacements D.
template <class C, class N, class D, class Description>
class FormsOf;

template <class C, class N, class D, class... Arguments>
class FormsOf<C, N, D, bool(Translation&, Arguments...)> {
 public:
  using Blocking = int(Arguments..., MPI_Comm);
  using Starting = int(Arguments..., MPI_Comm, MPI_Request*);
  using Preparing = int(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
  /// The MPI's own.
  inline static Blocking* real_blocking = nullptr;
  inline static Starting* real_starting = nullptr;
  inline static Preparing* real_preparing = nullptr;

  static int blocking(Arguments... arguments, MPI_Comm comm) noexcept {
    const Communicator* with = prepared(comm);
    if (!served(with, arguments...)) return pass_on(arguments..., comm);
    try {
      Translation t(with->place, C::kind);
      t.call.site = __builtin_return_address(0);
      if (!C::template describe<N, D>(t, arguments...)) return pass_on(arguments..., comm);
      with->member->run(t.call);
      return MPI_SUCCESS;
    } catch (const Error& error) {
      return fail(comm, error);
    }
  }

  static int starting(Arguments... arguments, MPI_Comm comm, MPI_Request* request) noexcept {
    const Communicator* with = known(comm);
    if (!served(with, arguments...)) return real_starting(arguments..., comm, request);
    try {
      Translation t(with->place, C::kind);
      t.call.site = __builtin_return_address(0);
      if (!C::template describe<N, D>(t, arguments...)) return real_starting(arguments..., comm, request);
      return hand_out(with->starting->start(t.call), request);
    } catch (const Error& error) {
      return fail(comm, error);
    }
  }

  static int preparing(Arguments... arguments, MPI_Comm comm, MPI_Info info, MPI_Request* request) noexcept {
    const Communicator* with = known(comm);
    if (!served(with, arguments...)) return real_preparing(arguments..., comm, info, request);
    try {
      Translation t(with->place, C::kind);
      t.call.site = __builtin_return_address(0);
      if (!C::template describe<N, D>(t, arguments...)) return real_preparing(arguments..., comm, info, request);
      return hand_out(with->starting, with->starting->init(t.call), request);
    } catch (const Error& error) {
      return fail(comm, error);
    }
  }

 private:
  /// The same answer on all ranks.
  static bool served(const Communicator* with, Arguments... arguments) {
    return with != nullptr && with->member != nullptr && policy.wants(C::kind) &&
           (!C::along_edges || with->place.has_neighbors) && C::covered(arguments...);
  }

  /// While operations of Tutti's are open, others may need this rank for them to get here.
  static int pass_on(Arguments... arguments, MPI_Comm comm) {
    if (idle() || real_starting == nullptr) return real_blocking(arguments..., comm);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = real_starting(arguments..., comm, &request), done = 0;
    if (code == MPI_SUCCESS)
      wait_until([&] {
        code = real.Test(&request, &done, MPI_STATUS_IGNORE);
        return code != MPI_SUCCESS || done != 0;
      });
    return code;
  }
};

template <class Function>
struct SignatureOf;
template <class Result, class... Arguments>
struct SignatureOf<Result (*)(Arguments...)> {
  using Type = Result(Arguments...);
};

template <class C, class N, class D>
using Forms = FormsOf<C, N, D, typename SignatureOf<decltype(&C::template describe<N, D>)>::Type>;

}  // namespace tutti::mpi
