// SPDX-License-Identifier: BSD-3-Clause
// Correctly rounded sums of a few arrays, and the same when other algorithms carry the numbers.
#pragma once

#include <span>

#include "exact/accumulator.hpp"

namespace tutti::exact {

/// target[i] = sources[0][i] + sources[1][i] + ..., rounded once, as `rounded` says. The target may be one of the
/// sources; none needs alignment.
template <class T>
void sum(std::span<const std::byte* const> sources, std::byte* target, Count count);

/// How the numbers of `size` ranks travel through any algorithm: as this many words each, which are summed as integers.
/// Few ranks: a word for each rank's number, all others zero. Many: an accumulator.
constexpr std::size_t words_of(Rank size) {
  return size < static_cast<Rank>(words) ? static_cast<std::size_t>(size) : words;
}

/// This rank's numbers as words, and all ranks' words as numbers.
template <class T>
void encode(const std::byte* numbers, Count count, Rank rank, Rank size, Word* wire);
template <class T>
void decode(const Word* wire, Count count, Rank size, std::byte* numbers);

}  // namespace tutti::exact
