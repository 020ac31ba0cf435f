// SPDX-License-Identifier: BSD-3-Clause
// Four doubles at a time, and their sums without error: for this room alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tutti/types.hpp"

namespace tutti::exact {

// What is inlined into a loop is compiled for that loop's processor.
#define TUTTI_EXACT_INLINE [[gnu::always_inline]] inline

inline constexpr Count lane_count = 4;
typedef double Lanes __attribute__((vector_size(lane_count * sizeof(double))));
typedef float Floats __attribute__((vector_size(lane_count * sizeof(float))));
typedef std::int64_t Bits __attribute__((vector_size(lane_count * sizeof(std::int64_t))));

/// A number as a double, which holds a float exactly.
template <class T>
TUTTI_EXACT_INLINE double number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Several of them.
template <class T>
TUTTI_EXACT_INLINE void load(const std::byte* from, Lanes& lanes) {
  if constexpr (std::is_same_v<T, float>) {
    Floats floats;
    std::memcpy(&floats, from, sizeof floats);
    lanes = __builtin_convertvector(floats, Lanes);
  } else {
    std::memcpy(&lanes, from, sizeof lanes);
  }
}

/// The other way: a float is rounded.
template <class T>
TUTTI_EXACT_INLINE void store(const Lanes& lanes, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    const Floats floats = __builtin_convertvector(lanes, Floats);
    std::memcpy(to, &floats, sizeof floats);
  } else {
    std::memcpy(to, &lanes, sizeof lanes);
  }
}

/// sum + number = sum + rest exactly, with the new sum and rest (Knuth; Moller 1965), unless something overflows: then
/// the rest is NaN.
template <class Number>
TUTTI_EXACT_INLINE void add_exactly(Number& sum, Number& number) {
  const Number total = sum + number;
  const Number added = total - sum;
  number = (sum - (total - added)) + (number - added);
  sum = total;
}

TUTTI_EXACT_INLINE bool any(const Bits& bits) {
  std::int64_t all = 0;
  for (int i = 0; i < lane_count; ++i) all |= bits[i];
  return all != 0;
}

}  // namespace tutti::exact
