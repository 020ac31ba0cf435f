// SPDX-License-Identifier: BSD-3-Clause
#include "exact/accumulator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "exact/digits.hpp"

namespace tutti::exact {

namespace {

constexpr int mantissa_bits = 52;
constexpr int exponents = 2048;
constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
constexpr std::uint64_t top_exponent = exponents - 1;

std::uint64_t low_half(Word value) { return static_cast<std::uint32_t>(value); }

/// value * 2^(bit - 1074).
void add_at(Word* accumulator, Wide value, int bit) {
  Word* digit = accumulator + bit / digit_bits;
  const int shift = bit % digit_bits;
  const Word sign = value < 0 ? -1 : 1;
  for (Wide rest = value < 0 ? -value : value; rest != 0; rest >>= digit_bits, ++digit) {
    const std::uint64_t part = (static_cast<std::uint64_t>(rest) & digit_mask) << shift;
    digit[0] += sign * static_cast<Word>(part & digit_mask);
    digit[1] += sign * static_cast<Word>(part >> digit_bits);
  }
}

}  // namespace

void add(Word* accumulator, double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const std::uint64_t exponent = bits >> mantissa_bits & top_exponent, mantissa = bits & mantissa_mask;
  if (exponent == top_exponent) {
    accumulator[specials] |= mantissa != 0 ? is_nan : number > 0 ? is_plus : is_minus;
  } else if (exponent != 0 || mantissa != 0) {
    const Wide value = static_cast<Wide>(exponent == 0 ? mantissa : mantissa | std::uint64_t{1} << mantissa_bits);
    add_at(accumulator, number < 0 ? -value : value, exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  }
  accumulator[zeros] |= bits == minus_zero ? has_minus_zero : has_other;
}

void normalize(Word* accumulator) {
  Word carry = 0;
  for (std::size_t i = 0; i + 1 < digits; ++i) {
    const Word value = accumulator[i] + carry;
    accumulator[i] = static_cast<Word>(low_half(value));
    carry = value >> digit_bits;
  }
  accumulator[digits - 1] += carry;
}

Buckets::Buckets() : totals_(exponents) {}

void Buckets::add(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const std::uint64_t exponent = bits >> mantissa_bits & top_exponent;
  const auto mantissa =
      static_cast<std::int64_t>((bits & mantissa_mask) | static_cast<std::uint64_t>(exponent != 0) << mantissa_bits);
  // Without a branch on the sign, which nobody can foresee.
  const std::int64_t negative = -static_cast<std::int64_t>(bits >> 63);
  totals_[exponent] += (mantissa ^ negative) - negative;
  seen_ |= bits == minus_zero ? has_minus_zero : has_other;
  if (exponent == top_exponent) [[unlikely]]
    specials_ |= (bits & mantissa_mask) != 0 ? is_nan : negative != 0 ? is_minus : is_plus;
}

void Buckets::move_to(Word* accumulator) {
  for (int exponent = 0; exponent < exponents - 1; ++exponent)
    if (totals_[static_cast<std::size_t>(exponent)] != 0)
      add_at(accumulator, totals_[static_cast<std::size_t>(exponent)], std::max(exponent - 1, 0));
  accumulator[specials] |= specials_;
  accumulator[zeros] |= seen_;
  std::ranges::fill(totals_, Wide{0});
  specials_ = seen_ = 0;
  normalize(accumulator);
}

namespace {

/// What a number type can hold: bits of its mantissa, and the lowest bit of all (counted from 2^-1074).
template <class T>
struct Precision {
  static constexpr int bits = std::numeric_limits<T>::digits;
  static constexpr int lowest = 1074 + std::numeric_limits<T>::min_exponent - bits;
};
static_assert(Precision<double>::lowest == 0 && Precision<float>::lowest == 925);

/// The sign and magnitude of an accumulator, every digit in 0 ... 2^32 - 1.
struct Magnitude {
  bool negative = false;
  std::array<std::uint32_t, digits> digit{};

  explicit Magnitude(const Word* accumulator) {
    std::array<Word, digits> sum;
    std::copy_n(accumulator, digits, sum.begin());
    normalize(sum.data());
    negative = sum.back() < 0;
    std::uint64_t carry = negative ? 1 : 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const std::uint64_t value = (negative ? ~low_half(sum[i]) & digit_mask : low_half(sum[i])) + carry;
      digit[i] = static_cast<std::uint32_t>(value);
      carry = value >> digit_bits;
    }
  }

  /// The highest bit, or -1 for zero.
  int top() const {
    for (int i = static_cast<int>(digits) - 1; i >= 0; --i)
      if (digit[static_cast<std::size_t>(i)] != 0)
        return i * digit_bits + static_cast<int>(std::bit_width(digit[static_cast<std::size_t>(i)])) - 1;
    return -1;
  }
  std::uint64_t from(int i) const { return i < static_cast<int>(digits) ? digit[static_cast<std::size_t>(i)] : 0; }
  /// Bits `bit` ... `bit` + 63.
  std::uint64_t window(int bit) const {
    const int i = bit / digit_bits, shift = bit % digit_bits;
    const std::uint64_t low = from(i) | from(i + 1) << digit_bits;
    return shift == 0 ? low : low >> shift | from(i + 2) << (2 * digit_bits - shift);
  }
  bool any_below(int bit) const {
    const auto whole = static_cast<std::size_t>(bit / digit_bits);
    for (std::size_t i = 0; i < whole; ++i)
      if (digit[i] != 0) return true;
    return (digit[whole] & ((std::uint32_t{1} << bit % digit_bits) - 1)) != 0;
  }
};

}  // namespace

template <class T>
T rounded(const Word* accumulator) {
  const Word special = accumulator[specials];
  const bool plus = (special & specials_of(is_plus)) != 0, minus = (special & specials_of(is_minus)) != 0;
  if ((special & specials_of(is_nan)) != 0 || (plus && minus)) return std::numeric_limits<T>::quiet_NaN();
  if (plus || minus) return plus ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  const Magnitude sum(accumulator);
  const int top = sum.top();
  if (top < 0) return (accumulator[zeros] & specials_of(has_other)) == 0 && accumulator[zeros] != 0 ? T{-0.0} : T{0};
  const int last = std::max(top + 1 - Precision<T>::bits, Precision<T>::lowest);
  std::uint64_t mantissa = sum.window(last) & ((std::uint64_t{1} << Precision<T>::bits) - 1);
  if (last > 0) {
    const bool half = (sum.window(last - 1) & 1) != 0;
    if (half && ((mantissa & 1) != 0 || sum.any_below(last - 1))) ++mantissa;
  }
  // Both fit a double, so that nothing is rounded a second time; what is too large becomes infinite.
  const double value = std::ldexp(static_cast<double>(mantissa), last - 1074);
  const bool fits = value <= static_cast<double>(std::numeric_limits<T>::max());
  const T size = fits ? static_cast<T>(value) : std::numeric_limits<T>::infinity();
  return sum.negative ? -size : size;
}

template float rounded<float>(const Word*);
template double rounded<double>(const Word*);

}  // namespace tutti::exact
