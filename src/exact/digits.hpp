// SPDX-License-Identifier: BSD-3-Clause
// The inside of an accumulator: for this room alone.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/accumulator.hpp"

namespace tutti::exact {

/// GCC and Clang have it wherever a pointer has 64 bits.
__extension__ typedef __int128 Wide;

inline constexpr int digit_bits = 32;
inline constexpr std::uint64_t digit_mask = 0xffffffffu;
inline constexpr std::uint64_t minus_zero = std::uint64_t{1} << 63;

// The last two words: which special numbers, and which signs of zero there were, each in a field of 20 bits of its own,
// so that adding words counts the accumulators that saw one.
inline constexpr std::size_t specials = digits, zeros = digits + 1;
inline constexpr int field_bits = 20;
inline constexpr Word is_nan = 1, is_plus = Word{1} << field_bits, is_minus = Word{1} << 2 * field_bits;
inline constexpr Word has_minus_zero = 1, has_other = Word{1} << field_bits;
/// All bits of the field that begins with this bit.
constexpr Word specials_of(Word field) { return field * ((Word{1} << field_bits) - 1); }

/// Adds one number. At most 2^30 of them before a `normalize`.
void add(Word* accumulator, double number);
/// Carries, so that every digit but the highest is in 0 ... 2^32 - 1.
void normalize(Word* accumulator);

/// Sums by exponent: the same time for any numbers, however far apart they are.
class Buckets {
 public:
  Buckets();
  void add(double number);
  void move_to(Word* accumulator);

 private:
  std::vector<Wide> totals_;  // per exponent: of the mantissas, with 2^64 of them in reach
  Word specials_ = 0, seen_ = 0;
};

}  // namespace tutti::exact
