// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of floating-point numbers: an accumulator wide enough for every double, rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/types.hpp"

namespace tutti::exact {

/// One word of an accumulator. Two accumulators are added word by word, as integers: any algorithm that sums integers
/// sums them, in any order, cut anywhere (Kulisch's long accumulator with carries kept for later; Neal 2015,
/// arXiv 1505.05571).
using Word = std::int64_t;

/// Digits of 32 bits from 2^-1074 upwards, room for 2^64 doubles of any size included; what the digits cannot say
/// follows.
inline constexpr std::size_t digits = 70;
inline constexpr std::size_t words = digits + 2;

/// How many accumulators may be added before a word could overflow.
inline constexpr Rank most_accumulators = (1 << 20) - 1;

/// Sets `parts` accumulators, which lie side by side, to the sums of `count` numbers dealt to them in turn: one for
/// real numbers, two for complex ones. The numbers need no alignment. An empty sum is all zeros.
template <class T>
void fold(const std::byte* numbers, Count count, int parts, Word* accumulators);

/// The number nearest to an accumulator, ties to even; NaN (the positive quiet one) and infinities as in IEEE 754,
/// without an overflow on the way; an exact zero is -0 when all numbers were -0, else +0.
template <class T>
T rounded(const Word* accumulator);

}  // namespace tutti::exact
