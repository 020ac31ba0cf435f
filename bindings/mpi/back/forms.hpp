// SPDX-License-Identifier: BSD-3-Clause
// The forms of a collective - blocking, I-, _init; with counts of int or of 64 bits - made from its one description.
#pragma once

#include <optional>
#include <utility>

#include "blocked.hpp"
#include "communicators.hpp"
#include "failure.hpp"
#include "host.hpp"
#include "inside.hpp"
#include "real.hpp"
#include "requests.hpp"
#include "rests.hpp"
#include "turn.hpp"

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
  inline static FunctionName name{};  ///< Of the blocking one.

  static int blocking(Arguments... arguments, MPI_Comm comm) noexcept {
    const Inside inside(name, __builtin_return_address(0));
    if (is_passed_on<C>(comm, arguments...)) {
      const int code = pass_on(arguments..., comm);
      if (refused(code)) uncount(C::kind);
      return code;
    }
    Communicator* with = known(comm);
    const Nature what = nature(with, Form::blocking, arguments...);
    const bool moves = what.bytes != 0 || C::kind == Kind::barrier || policy.of(C::kind) == Choice::always;
    Turn turn(with, moves && covered(with, arguments...), what);
    try {
      if (!moves && is_done(with, arguments...)) return MPI_SUCCESS;
      int code = MPI_SUCCESS;
      Described described(with, turn.by_tutti(), arguments...);
      if (described.call != nullptr) {
        with->member->run(described.at(__builtin_return_address(0)));
      } else {
        code = pass_on(arguments..., comm);
        if (is_freed(code, comm, with)) return code;
        if (refused(code)) {
          turn.give_back();
          return code;
        }
      }
      turn.end();
      // All ranks are here that have made this call, and none that has only tried to.
      if (with == nullptr) prepare(comm);
      return code;
    } catch (const Error& error) {
      turn.failed(error);
      return fail(comm, error);
    }
  }

  static int starting(Arguments... arguments, MPI_Comm comm, MPI_Request* request) noexcept {
    Communicator* with = known(comm);
    Turn turn(with, starts(with, arguments...), nature(with, Form::starting, arguments...));
    try {
      Described described(with, turn.by_tutti(), arguments...);
      const int code = described.call == nullptr
                           ? real_starting(arguments..., comm, request)
                           : hand_out(with->starting->start(described.at(__builtin_return_address(0))),
                                      hold(described.call->reduction), {comm, with->starting}, request);
      if (is_freed(code, comm, with)) return code;
      if (code == MPI_SUCCESS)
        turn.started(*request);
      else if (refused(code))
        turn.give_back();
      else
        turn.is_lost();
      return code;
    } catch (const Error& error) {
      turn.failed(error);
      return fail(comm, error);
    }
  }

  /// Its starts go the way that calls of the other forms have shown to be the better one.
  static int preparing(Arguments... arguments, MPI_Comm comm, MPI_Info info, MPI_Request* request) noexcept {
    Communicator* with = known(comm);
    try {
      const bool by_tutti = starts(with, arguments...) && prefers_tutti(*with, arguments...);
      Described described(with, by_tutti, arguments...);
      const auto own = described.call == nullptr ? nullptr : apart(*with->starting);
      return own == nullptr ? real_preparing(arguments..., comm, info, request)
                            : hand_out(own, own->init(described.at(__builtin_return_address(0))),
                                       hold(described.call->reduction), {comm, with->starting}, request);
    } catch (const Error& error) {
      return fail(comm, error);
    }
  }

 private:
  /// Tutti's description of a call; none where the MPI has to do it, or to refuse it. (Ranks that do not know yet that
  /// a communicator is revoked are no worse off than inside a call.)
  struct Described {
    std::optional<Translation> translation;
    Call* call = nullptr;

    Described(const Communicator* with, bool by_tutti, Arguments... arguments) {
      if (!by_tutti || revoked(*with)) return;
      translation.emplace(with->place, C::kind, carrier());
      if (C::template describe<N, D>(*translation, arguments...)) call = &translation->call;
    }
    const Call& at(const void* site) {
      call->site = site;
      return *call;
    }
  };
  static constexpr Kind carrier() {
    if constexpr (requires { C::carrier; })
      return C::carrier;
    else
      return C::kind;
  }

  /// Whether Tutti can do it: the same answer on all ranks.
  static bool covered(const Communicator* with, Arguments... arguments) {
    return with != nullptr && with->member != nullptr && policy.of(C::kind) != Choice::never &&
           (!C::along_edges || with->place.neighbors != nullptr) && can_combine<C>(arguments...);
  }
  /// The same of what stays open, which the helper thread may move on: a function of the program's may run there only
  /// if the program has said that it has threads.
  static bool starts(const Communicator* with, Arguments... arguments) {
    if (with == nullptr || with->starting == nullptr || !covered(with, arguments...)) return false;
    if constexpr (requires { C::how(arguments...); })
      return !is_programs(C::how(arguments...)) || Host::get()->has_threads();
    return true;
  }
  static Nature nature(const Communicator* with, Form form, Arguments... arguments) {
    // At the root of an intercommunicator some arguments need not mean anything.
    const bool counts = with != nullptr && with->place.size > 1 && Turn::needs_size(C::kind);
    return {C::kind, form, counts ? C::size(with->place, arguments...) : -1};
  }
  /// Whether nothing is left to do in a call without bytes, which is no matter for trials: no rank waits for another in
  /// it, and the MPIs are back from it sooner than a call can be passed on.
  static bool is_done(const Communicator* with, Arguments... arguments) {
    if (!covered(with, arguments...) || Described(with, true, arguments...).call == nullptr) return false;
    if (report::wanted) report::call(C::kind, Form::blocking, size_class(0), Side::tutti, {0, 0, 0});
    return true;
  }
  static bool prefers_tutti(Communicator& with, Arguments... arguments) {
    return policy.of(C::kind) == Choice::always || with.choices->gains(C::kind, C::size(with.place, arguments...));
  }

  /// By the program's error handler, when the call failed: nothing of it is to be touched.
  static bool is_freed(int code, MPI_Comm comm, const Communicator* with) {
    return code != MPI_SUCCESS && known(comm) != with;
  }

  /// Always the blocking form, with which that of another rank matches.
  static int pass_on(Arguments... arguments, MPI_Comm comm) {
    return guarded([&] { return real_blocking(arguments..., comm); });
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
