// SPDX-License-Identifier: BSD-3-Clause
// What a call is given beside its buffers: the reduction, the algorithm, its place in the program.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tutti/types.hpp"

namespace tutti {

/// An element with arithmetic of its own; others need a user function (tutti::op).
template <class T>
concept Number = type_of<T> != Type::opaque;

/// A built-in reduction.
struct BuiltIn {
  Op op;
};
inline constexpr BuiltIn sum{Op::sum}, prod{Op::prod}, min{Op::min}, max{Op::max}, land{Op::land}, lor{Op::lor},
    lxor{Op::lxor}, band{Op::band}, bor{Op::bor}, bxor{Op::bxor}, minloc{Op::minloc}, maxloc{Op::maxloc};

/// A reduction by a function `T f(const T& lower_ranks, const T& higher_ranks)`, with the rules of a ReduceFunction.
/// The object must live until the operations that use it are complete.
template <class F>
struct Function {
  F f;
  bool commutative;
};
/// A user's reduction; say so when it does not commute.
template <class F>
Function<F> op(F f, bool commutative = true) {
  return {std::move(f), commutative};
}

namespace detail {

/// The address of this very place in the program. As a default, it is that of the user's call.
[[gnu::always_inline]] inline const void* here() {
#if defined(__x86_64__)
  const void* place = nullptr;
  asm volatile("lea 0(%%rip), %0" : "=r"(place));
  return place;
#elif defined(__aarch64__)
  const void* place = nullptr;
  asm volatile("adr %0, ." : "=r"(place));
  return place;
#else
  return __builtin_return_address(0);
#endif
}

/// For plans that combine nothing, and that have no buffers.
struct NoOperation {};
using Nothing = std::span<std::byte, 0>;

/// A function that can be made anew wherever it is needed.
template <class F>
concept Stateless = std::is_empty_v<F> && std::default_initializable<F>;
template <class Reduce>
inline constexpr bool has_state = false;
template <class F>
inline constexpr bool has_state<Function<F>> = !Stateless<F>;

/// A reduction that is there until the operation ends: a variable, or anything without state. One with state that is
/// made in the call itself would be gone before; keep tutti::op(f) in a variable.
template <class Reduce>
concept Lasting = std::is_lvalue_reference_v<Reduce> || !has_state<std::remove_cvref_t<Reduce>>;

}  // namespace detail

/// What one call may choose. The same on all ranks.
struct Options {
  std::string_view algorithm = {};    ///< As `tutti plan list` names them; empty: the table chooses.
  const void* site = detail::here();  ///< Where the call stands, for messages and `tutti why`; each rank's own.
};

}  // namespace tutti
