// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tutti::testing {
namespace {

using Random = std::mt19937_64;

template <class T>
T any_finite(Random& random) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (;;) {
    const T value = std::bit_cast<T>(static_cast<Bits>(random()));
    if (std::isfinite(value)) return value;
  }
}

template <class T>
T one(Sort sort, Random& random) {
  using Limits = std::numeric_limits<T>;
  const auto sign = static_cast<T>((random() & 1) != 0 ? -1 : 1);
  const auto fraction = static_cast<T>(random() >> 11) * static_cast<T>(0x1p-53);
  switch (sort) {
    case Sort::full_range:
      return any_finite<T>(random);
    case Sort::ties:  // whole numbers, and halves of the last bit of a large one
      return sign * std::ldexp(T{1}, static_cast<int>(random() % 3) * (Limits::digits / 2 + 1));
    case Sort::near_ties: {  // half of a last bit, and something far below that decides
      const int below[] = {0, Limits::digits, Limits::digits + 1 + static_cast<int>(random() % 60), 2 * Limits::digits};
      return sign * std::ldexp(T{1}, -below[random() % 4]);
    }
    case Sort::large:
      return sign * (Limits::max() / static_cast<T>(1 + random() % 3));
    case Sort::subnormal:
      return sign * fraction * Limits::min() * 4;
    case Sort::special: {
      constexpr std::array some = {Limits::infinity(),
                                   -Limits::infinity(),
                                   Limits::quiet_NaN(),
                                   -Limits::quiet_NaN(),
                                   Limits::max(),
                                   Limits::denorm_min(),
                                   T{-0.0},
                                   T{0}};
      return random() % 3 == 0 ? some[random() % some.size()] : fraction;
    }
    case Sort::zeros:
      return random() % 8 == 0 ? T{0} : T{-0.0};
    default:
      return sign * fraction;
  }
}

}  // namespace

const char* name(Sort sort) {
  constexpr std::array names = {"uniform", "full_range", "cancelling", "ties", "near_ties",
                                "large",   "subnormal",  "special",    "zeros"};
  return names[static_cast<std::size_t>(sort)];
}

template <class T>
std::vector<std::vector<T>> numbers(Sort sort, std::size_t columns, std::size_t rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<T>> made(columns, std::vector<T>(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<T> row(columns);
    for (T& value : row) value = one<T>(sort == Sort::cancelling ? Sort::full_range : sort, random);
    // Pairs that cancel, and one number that they hide.
    if (sort == Sort::cancelling)
      for (std::size_t j = 0; j + 1 < columns; j += 2) row[j + 1] = -row[j];
    if (sort == Sort::cancelling && columns > 2) row[random() % columns] = std::numeric_limits<T>::denorm_min();
    std::ranges::shuffle(row, random);
    for (std::size_t j = 0; j < columns; ++j) made[j][i] = row[j];
  }
  return made;
}

template std::vector<std::vector<float>> numbers<float>(Sort, std::size_t, std::size_t, std::uint64_t);
template std::vector<std::vector<double>> numbers<double>(Sort, std::size_t, std::size_t, std::uint64_t);

}  // namespace tutti::testing
