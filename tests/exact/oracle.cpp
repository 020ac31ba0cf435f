// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <sstream>

namespace tutti::testing {
namespace {

/// A whole number of 2^-1074ths, which every float and double is; two's complement.
class Whole {
 public:
  Whole() = default;
  explicit Whole(double number) {
    int exponent = 0;
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(number), &exponent), 53));
    for (exponent -= 53; exponent < -1074; ++exponent) mantissa >>= 1;  // a subnormal number: nothing is lost
    if (mantissa != 0) set(mantissa, exponent + 1074);
    if (number < 0) negate();
  }
  static Whole power(int exponent) {
    Whole made;
    made.set(1, exponent + 1074);
    return made;
  }
  Whole& operator+=(const Whole& other) {
    std::uint32_t carry = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      carry += std::uint32_t{bytes_[i]} + other.bytes_[i];
      bytes_[i] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    return *this;
  }
  Whole operator-(const Whole& other) const {
    Whole result = other;
    result.negate();
    return result += *this;
  }
  bool negative() const { return bytes_.back() >= 0x80; }
  bool zero() const {
    return std::ranges::all_of(bytes_, [](auto byte) { return byte == 0; });
  }
  Whole size() const {
    Whole result = *this;
    if (negative()) result.negate();
    return result;
  }
  /// Of two sizes.
  std::strong_ordering operator<=>(const Whole& other) const {
    return std::lexicographical_compare_three_way(bytes_.rbegin(), bytes_.rend(), other.bytes_.rbegin(),
                                                  other.bytes_.rend());
  }
  bool operator==(const Whole&) const = default;

 private:
  void set(std::uint64_t mantissa, int bit) {
    for (; mantissa != 0; mantissa >>= 1, ++bit)
      if ((mantissa & 1) != 0) bytes_[static_cast<std::size_t>(bit / 8)] |= static_cast<std::uint8_t>(1u << bit % 8);
  }
  void negate() {
    for (auto& byte : bytes_) byte = static_cast<std::uint8_t>(~byte);
    Whole one;
    one.bytes_[0] = 1;
    *this += one;
  }
  std::array<std::uint8_t, 280> bytes_{};
};

template <class T>
std::string wrong(const char* why, T result) {
  std::ostringstream text;
  text << std::hexfloat << result << " " << why;
  return text.str();
}

template <class T>
bool even(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::bit_cast<Bits>(value) & 1) == 0;
}

/// Where an infinity would lie if there were one more exponent.
template <class T>
Whole place(T value) {
  if (!std::isinf(value)) return Whole(value);
  const Whole end = Whole::power(std::numeric_limits<T>::max_exponent);
  return value > 0 ? end : Whole() - end;
}

template <class T>
std::string judge_number(const Whole& sum, T result) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const Whole here = (sum - place(result)).size();
  for (const T towards : {-infinity, infinity}) {
    if (result == towards) continue;
    const T next = std::nextafter(result, towards);
    const Whole there = (sum - place(next)).size();
    if (there < here) return wrong("has a nearer neighbour", result);
    if (there == here && !even(result)) return wrong("is a tie, and odd", result);
  }
  return "";
}

}  // namespace

template <class T>
std::string judge(std::span<const T> numbers, T result) {
  bool nan = false, plus = false, minus = false, all_minus_zero = !numbers.empty();
  Whole sum;
  for (const T number : numbers) {
    nan = nan || std::isnan(number);
    plus = plus || number == std::numeric_limits<T>::infinity();
    minus = minus || number == -std::numeric_limits<T>::infinity();
    all_minus_zero = all_minus_zero && number == 0 && std::signbit(number);
    if (std::isfinite(number)) sum += Whole(number);
  }
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto quiet = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  if (nan || (plus && minus)) return std::bit_cast<Bits>(result) == quiet ? "" : wrong("is not the quiet NaN", result);
  if (std::isnan(result)) return "is NaN";
  if (plus || minus) return std::isinf(result) && (result > 0) == plus ? "" : wrong("is not that infinity", result);
  if (sum.zero() && (result != 0 || std::signbit(result) != all_minus_zero))
    return wrong("is not the right zero", result);
  return judge_number(sum, result);
}

template std::string judge<float>(std::span<const float>, float);
template std::string judge<double>(std::span<const double>, double);

}  // namespace tutti::testing
