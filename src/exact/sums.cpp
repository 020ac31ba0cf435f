// SPDX-License-Identifier: BSD-3-Clause
#include "exact/sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "exact/digits.hpp"
#include "exact/lanes.hpp"

namespace tutti::exact {

namespace {

/// Any numbers, one sum.
template <class T>
T sum_slowly(std::span<const std::byte* const> sources, Count i) {
  std::array<Word, words> accumulator{};
  for (const std::byte* source : sources) add(accumulator.data(), number<T>(source + i * Count{sizeof(T)}));
  return rounded<T>(accumulator.data());
}

constexpr Count at_once = 64;

/// A block of sums, and which of them may not be right.
template <class T>
struct Sums {
  alignas(64) std::array<T, at_once> sum;
  alignas(64) std::array<std::int64_t, at_once> wrong;
};

/// Marks the lanes where something is lost (`lost` in size at most) and that may show: where sum plus anything that the
/// rest may really be is not always the same number. The margin covers the roundings before the last: of itself, and
/// of a float's sum as a double.
template <class T>
TUTTI_EXACT_INLINE void doubt(const Lanes& sum, const Lanes& rest, const Lanes& lost, Bits& wrong) {
  constexpr bool single = std::is_same_v<T, float>;
  const Lanes& rounded = single ? sum : rest;
  const Lanes margin = 2 * lost + (rounded < 0 ? -rounded : rounded) * std::numeric_limits<double>::epsilon();
  const Lanes least = sum + (rest - margin), most = sum + (rest + margin);
  if constexpr (single) {
    const auto same = __builtin_convertvector(least, Floats) == __builtin_convertvector(most, Floats);
    wrong = (lost != 0) & ~__builtin_convertvector(same, Bits);
  } else {
    wrong = (lost != 0) & ~(least == most);
  }
}

/// Four sums at once, the numbers from `load(source, lanes)`. Nothing is lost where sum + rest takes up every number
/// exactly: a double is then right when both are added, and a float when there is no rest.
template <class T, class Load>
TUTTI_EXACT_INLINE void sum_four(std::span<const std::byte* const> sources, Load load, Lanes& sum, Bits& wrong) {
  Lanes rest{}, lost{};
  load(sources[0], sum);
  lost = sum == sum ? lost : sum;
  for (std::size_t source = 1; source < sources.size(); ++source) {
    Lanes lanes;
    load(sources[source], lanes);
    add_exactly(sum, lanes);
    if constexpr (std::is_same_v<T, double>) add_exactly(rest, lanes);
    lost += lanes < 0 ? -lanes : lanes;
  }
  doubt<T>(sum, rest, lost, wrong);
  sum = rest != 0 ? sum + rest : sum;  // a rest of +0 would change -0
}

template <class T>
TUTTI_EXACT_INLINE bool sum_block(std::span<const std::byte* const> sources, Count at, Count count, Sums<T>& sums) {
  Bits all{}, wrong{};
  Lanes sum{};
  Count i = 0;
  for (; i + lane_count <= count; i += lane_count) {
    const Count byte = (at + i) * Count{sizeof(T)};
    sum_four<T>(
        sources, [byte](const std::byte* source, Lanes& lanes) { load<T>(source + byte, lanes); }, sum, wrong);
    store<T>(sum, sums.sum.data() + i);
    std::memcpy(sums.wrong.data() + i, &wrong, sizeof wrong);
    all |= wrong;
  }
  for (; i < count; ++i) {
    const Count byte = (at + i) * Count{sizeof(T)};
    const auto one = [byte](const std::byte* source, Lanes& lanes) { lanes = Lanes{number<T>(source + byte)}; };
    sum_four<T>(sources, one, sum, wrong);
    sums.sum[static_cast<std::size_t>(i)] = static_cast<T>(sum[0]);
    sums.wrong[static_cast<std::size_t>(i)] = wrong[0];
    all |= wrong;
  }
  return any(all);
}

/// The processor's own addition is right for two numbers; only of its NaNs one is chosen.
template <class T>
TUTTI_EXACT_INLINE void sum_two(const std::byte* a, const std::byte* b, std::byte* target, Count count) {
  for (Count i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, a + i * Count{sizeof(T)}, sizeof x);
    std::memcpy(&y, b + i * Count{sizeof(T)}, sizeof y);
    T value = x + y;
    value = value != value ? std::numeric_limits<T>::quiet_NaN() : value;
    std::memcpy(target + i * Count{sizeof(T)}, &value, sizeof value);
  }
}

template <class T>
TUTTI_EXACT_INLINE void sum_arrays(std::span<const std::byte* const> sources, std::byte* target, Count count) {
  if (sources.size() == 2) return sum_two<T>(sources[0], sources[1], target, count);
  for (Count at = 0; at < count; at += at_once) {
    const Count now = std::min(at_once, count - at);
    Sums<T> sums;
    if (sum_block<T>(sources, at, now, sums)) [[unlikely]]
      for (Count i = 0; i < now; ++i)
        if (sums.wrong[static_cast<std::size_t>(i)] != 0)
          sums.sum[static_cast<std::size_t>(i)] = sum_slowly<T>(sources, at + i);
    // Last, because the target may be one of the sources.
    std::memcpy(target + at * Count{sizeof(T)}, sums.sum.data(), static_cast<std::size_t>(now) * sizeof(T));
  }
}

template <class T>
void sum_plainly(std::span<const std::byte* const> sources, std::byte* target, Count count) {
  sum_arrays<T>(sources, target, count);
}

#ifdef __x86_64__
template <class T>
[[gnu::target("avx2")]] void sum_avx2(std::span<const std::byte* const> sources, std::byte* target, Count count) {
  sum_arrays<T>(sources, target, count);
}
#endif

/// Words that all ranks but one leave at zero: the number -0, which adds nothing, becomes 0.
Word as_word(double number) { return static_cast<Word>(std::bit_cast<std::uint64_t>(number) ^ minus_zero); }
double as_number(Word word) { return std::bit_cast<double>(static_cast<std::uint64_t>(word) ^ minus_zero); }

}  // namespace

template <class T>
void sum(std::span<const std::byte* const> sources, std::byte* target, Count count) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return sum_avx2<T>(sources, target, count);
#endif
  sum_plainly<T>(sources, target, count);
}

template <class T>
void encode(const std::byte* numbers, Count count, Rank rank, Rank size, Word* wire) {
  const std::size_t each = words_of(size);
  std::fill_n(wire, static_cast<std::size_t>(count) * each, Word{0});
  for (Count i = 0; i < count; ++i, wire += each) {
    const double value = number<T>(numbers + i * Count{sizeof(T)});
    if (each < words)
      wire[rank] = as_word(value);
    else
      add(wire, value);
  }
}

template <class T>
void decode(const Word* wire, Count count, Rank size, std::byte* numbers) {
  const std::size_t each = words_of(size);
  if (each == words) {
    for (Count i = 0; i < count; ++i, wire += each) {
      const T value = rounded<T>(wire);
      std::memcpy(numbers + i * Count{sizeof(T)}, &value, sizeof value);
    }
    return;
  }
  std::array<std::array<T, at_once>, words> columns;
  std::array<const std::byte*, words> sources;
  for (std::size_t j = 0; j < each; ++j) sources[j] = reinterpret_cast<const std::byte*>(columns[j].data());
  for (Count at = 0; at < count; at += at_once) {
    const Count now = std::min(at_once, count - at);
    for (Count i = 0; i < now; ++i)
      for (std::size_t j = 0; j < each; ++j)
        columns[j][static_cast<std::size_t>(i)] = static_cast<T>(as_number(*wire++));
    sum<T>({sources.data(), each}, numbers + at * Count{sizeof(T)}, now);
  }
}

template void sum<float>(std::span<const std::byte* const>, std::byte*, Count);
template void sum<double>(std::span<const std::byte* const>, std::byte*, Count);
template void encode<float>(const std::byte*, Count, Rank, Rank, Word*);
template void encode<double>(const std::byte*, Count, Rank, Rank, Word*);
template void decode<float>(const Word*, Count, Rank, std::byte*);
template void decode<double>(const Word*, Count, Rank, std::byte*);

}  // namespace tutti::exact
