// SPDX-License-Identifier: BSD-3-Clause
// The words every part of Tutti shares: ranks, counts, element types, reductions.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tutti {

/// A position in a group.
using Rank = std::int32_t;

/// A number of elements, or, where a name or comment says so, of bytes; 64 bits everywhere.
using Count = std::int64_t;

/// A value and where it was found: the element of `minloc` and `maxloc`.
/// Equal values keep the lowest index.
template <class T>
struct Located {
  T value;
  std::int64_t index;
  bool operator==(const Located&) const = default;
};

/// What one element is. `opaque` elements have a size but no arithmetic: only user functions reduce them.
enum class Type : std::uint8_t {
  opaque,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  boolean,
  complex64,
  complex128,
  located_int8,
  located_int16,
  located_int32,
  located_int64,
  located_uint8,
  located_uint16,
  located_uint32,
  located_uint64,
  located_float32,
  located_float64,
};

/// How two elements become one.
enum class Op : std::uint8_t { none, sum, prod, min, max, land, lor, lxor, band, bor, bxor, minloc, maxloc, user };

/// A user's reduction: `inout[i] = in[i] op inout[i]` for n elements, where `in` comes from the lower ranks.
/// It must be associative; it is called on any rank, from any thread that waits. It calls nothing of Tutti's; what it
/// throws breaks the group.
using ReduceFunction = void (*)(const void* in, void* inout, Count n, void* context);

/// A reduction as the engine sees it: a built-in `op`, or `Op::user` with a function.
struct Reduction {
  Op op = Op::none;
  bool commutative = true;
  ReduceFunction function = nullptr;
  void* context = nullptr;
};

/// The Type of Located<T> given the Type of T (integers, float and double).
constexpr Type located(Type value) {
  if (value == Type::float32) return Type::located_float32;
  if (value == Type::float64) return Type::located_float64;
  const int shift = static_cast<int>(Type::located_int8) - static_cast<int>(Type::int8);
  return static_cast<Type>(static_cast<int>(value) + shift);
}

namespace detail {

template <class T>
struct TypeOf {
  static constexpr Type value() {
    if constexpr (std::is_same_v<T, bool>)
      return Type::boolean;
    else if constexpr (std::is_same_v<T, float>)
      return Type::float32;
    else if constexpr (std::is_same_v<T, double>)
      return Type::float64;
    else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
      constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
      return static_cast<Type>(static_cast<int>(std::is_signed_v<T> ? Type::int8 : Type::uint8) + width);
    } else {
      return Type::opaque;
    }
  }
};
template <>
struct TypeOf<std::complex<float>> {
  static constexpr Type value() { return Type::complex64; }
};
template <>
struct TypeOf<std::complex<double>> {
  static constexpr Type value() { return Type::complex128; }
};
template <class T>
struct TypeOf<Located<T>> {
  static constexpr Type value() { return located(TypeOf<T>::value()); }
};

}  // namespace detail

/// The Type of a C++ element type; `opaque` for any trivially copyable type without arithmetic of its own.
template <class T>
inline constexpr Type type_of = detail::TypeOf<std::remove_cv_t<T>>::value();

}  // namespace tutti
