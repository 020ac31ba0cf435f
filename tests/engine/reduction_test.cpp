// SPDX-License-Identifier: BSD-3-Clause
// Every operation on every type against an oracle that is written as naively as possible.
#include "engine/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::engine {
namespace {

constexpr unsigned seed = 20240917;

constexpr std::array operations = {Op::sum,  Op::prod, Op::min, Op::max,  Op::land,   Op::lor,
                                   Op::lxor, Op::band, Op::bor, Op::bxor, Op::minloc, Op::maxloc};

Reduction built_in(Op op) { return {op, true, nullptr, nullptr}; }

template <class T>
T oracle_number(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = unsigned __int128;
    switch (op) {
      case Op::sum:
        return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
      case Op::prod:
        return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
      case Op::min:
        return std::min(a, b);
      case Op::max:
        return std::max(a, b);
      case Op::land:
        return a && b;
      case Op::lor:
        return a || b;
      case Op::lxor:
        return !a != !b;
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      default:
        return static_cast<T>(a ^ b);
    }
  } else {
    if (op == Op::sum) return a + b;
    if (op == Op::prod) return a * b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return (op == Op::min) == std::signbit(a) ? a : b;
    return (op == Op::min) == (a < b) ? a : b;
  }
}

bool oracle_boolean(Op op, bool a, bool b) {
  if (op == Op::land || op == Op::band) return a && b;
  if (op == Op::lor || op == Op::bor) return a || b;
  return a != b;
}

template <class T>
std::complex<T> oracle_complex(Op op, std::complex<T> a, std::complex<T> b) {
  if (op == Op::sum) return a + b;
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
Located<T> oracle_located(Op op, Located<T> a, Located<T> b) {
  const auto nan = [](T value) { return value != value; };
  if (nan(a.value) != nan(b.value)) return nan(a.value) ? a : b;
  if (a.value == b.value || nan(a.value)) return a.index < b.index ? a : b;
  return (op == Op::minloc) == (a.value < b.value) ? a : b;
}

template <class T>
struct IsLocated : std::false_type {};
template <class T>
struct IsLocated<Located<T>> : std::true_type {};
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

template <class T>
T oracle(Op op, T a, T b) {
  if constexpr (IsLocated<T>::value)
    return oracle_located(op, a, b);
  else if constexpr (IsComplex<T>::value)
    return oracle_complex(op, a, b);
  else if constexpr (std::is_same_v<T, bool>)
    return oracle_boolean(op, a, b);
  else
    return oracle_number(op, a, b);
}

template <class T>
bool expected_support(Op op) {
  const bool arithmetic = op == Op::sum || op == Op::prod, extreme = op == Op::min || op == Op::max;
  const bool location = op == Op::minloc || op == Op::maxloc;
  if (IsLocated<T>::value) return location;
  if (IsComplex<T>::value) return arithmetic;
  if (std::is_same_v<T, bool>) return !arithmetic && !extreme && !location;
  if (std::is_floating_point_v<T>) return arithmetic || extreme;
  return !location;
}

// Ordinary values mixed with all those at which something could go wrong; few enough that equal pairs are common.
template <class T>
T draw(std::mt19937_64& random) {
  if constexpr (IsLocated<T>::value) {
    T made;
    std::memset(&made, 0, sizeof made);
    made.value = draw<decltype(made.value)>(random);
    made.index = static_cast<std::int64_t>(random() % 7) - 3;
    return made;
  } else if constexpr (IsComplex<T>::value) {
    return {static_cast<typename T::value_type>(random() % 2001) - 1000,
            static_cast<typename T::value_type>(random() % 2001) - 1000};
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 1;
  } else {
    using Limits = std::numeric_limits<T>;
    const std::array<T, 9> special = {T{0},
                                      static_cast<T>(-T{0}),
                                      T{1},
                                      Limits::max(),
                                      Limits::lowest(),
                                      static_cast<T>(-1),
                                      Limits::has_infinity ? Limits::infinity() : static_cast<T>(3),
                                      Limits::has_infinity ? -Limits::infinity() : static_cast<T>(4),
                                      Limits::has_quiet_NaN ? Limits::quiet_NaN() : static_cast<T>(5)};
    if (random() % 2 == 0) return special[random() % special.size()];
    return static_cast<T>(random() % 1000003);
  }
}

template <class T>
void expect_equal(const T& got, const T& wanted, Op op, Count i) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(got)) << "op " << static_cast<int>(op) << ", element " << i;
      return;
    }
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << "op " << static_cast<int>(op) << ", element " << i;
    EXPECT_EQ(got, wanted) << "op " << static_cast<int>(op) << ", element " << i;
  } else if constexpr (IsLocated<T>::value) {
    expect_equal(got.value + decltype(got.value){}, wanted.value + decltype(got.value){}, op, i);
    EXPECT_EQ(got.index, wanted.index) << "op " << static_cast<int>(op) << ", element " << i;
  } else {
    EXPECT_EQ(got, wanted) << "op " << static_cast<int>(op) << ", element " << i;
  }
}

// `shift` bytes before both runs make them unaligned; a guard behind the target must stay.
template <class T>
void check(Op op, Count n, std::size_t shift, plan::Side side, std::mt19937_64& random) {
  constexpr std::size_t guard = 16;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  std::vector<std::byte> source(shift + bytes), target(shift + bytes + guard, std::byte{0xa5});
  std::vector<T> wanted;
  for (Count i = 0; i < n; ++i) {
    const T a = draw<T>(random), b = draw<T>(random);
    std::memcpy(source.data() + shift + static_cast<std::size_t>(i) * sizeof(T), &a, sizeof(T));
    std::memcpy(target.data() + shift + static_cast<std::size_t>(i) * sizeof(T), &b, sizeof(T));
    wanted.push_back(side == plan::Side::left ? oracle<T>(op, a, b) : oracle<T>(op, b, a));
  }
  reduce(built_in(op), type_of<T>, sizeof(T), source.data() + shift, target.data() + shift, n, side);
  for (Count i = 0; i < n; ++i) {
    T got;
    std::memcpy(&got, target.data() + shift + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    expect_equal<T>(got, wanted[static_cast<std::size_t>(i)], op, i);
  }
  for (std::size_t i = shift + bytes; i < target.size(); ++i) EXPECT_EQ(target[i], std::byte{0xa5});
}

template <class T>
class ReductionOf : public testing::Test {};

using Types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, float, double, bool, std::complex<float>,
                             std::complex<double>, Located<std::int8_t>, Located<std::int16_t>, Located<std::int32_t>,
                             Located<std::int64_t>, Located<std::uint8_t>, Located<std::uint16_t>,
                             Located<std::uint32_t>, Located<std::uint64_t>, Located<float>, Located<double>>;
TYPED_TEST_SUITE(ReductionOf, Types);

TYPED_TEST(ReductionOf, AgreesWithTheOracle) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  EXPECT_EQ(size_of(type_of<TypeParam>), sizeof(TypeParam));
  for (const Op op : operations) {
    EXPECT_EQ(supports(type_of<TypeParam>, op), expected_support<TypeParam>(op)) << static_cast<int>(op);
    if (!supports(type_of<TypeParam>, op)) continue;
    for (const Count n : {0, 1, 2, 3, 31, 33, 257})
      for (const std::size_t shift : {0, 1, 8})
        for (const plan::Side side : {plan::Side::left, plan::Side::right})
          check<TypeParam>(op, n, shift, side, random);
  }
}

TYPED_TEST(ReductionOf, RefusesWhatIsNotDefined) {
  std::array<std::byte, 16> source{}, target{};
  for (const Op op : operations) {
    if (supports(type_of<TypeParam>, op)) continue;
    EXPECT_THROW(
        reduce(built_in(op), type_of<TypeParam>, sizeof(TypeParam), source.data(), target.data(), 1, plan::Side::left),
        Error);
  }
}

TEST(Reduction, OpaqueElementsNeedAFunction) {
  for (const Op op : operations) EXPECT_FALSE(supports(Type::opaque, op));
  EXPECT_FALSE(supports(Type::int32, Op::none));
  EXPECT_TRUE(supports(Type::opaque, Op::user));
  std::array<std::byte, 4> source{}, target{};
  const Reduction no_function{Op::user, true, nullptr, nullptr};
  EXPECT_THROW(reduce(no_function, Type::opaque, 4, source.data(), target.data(), 1, plan::Side::left), Error);
}

TEST(Reduction, AnyTrueByteIsTrue) {
  const std::array<unsigned char, 4> source{2, 2, 0, 0};
  std::array<unsigned char, 4> target{4, 0, 8, 0};
  reduce(built_in(Op::band), Type::boolean, 1, reinterpret_cast<const std::byte*>(source.data()),
         reinterpret_cast<std::byte*>(target.data()), 4, plan::Side::left);
  EXPECT_EQ(target, (std::array<unsigned char, 4>{1, 0, 0, 0}));
}

// x -> m x + c under composition: associative, not commutative. Padded so that elements can have any size.
template <std::size_t padding>
struct Affine {
  std::uint32_t m, c;
  std::array<char, padding> rest{};
  bool operator==(const Affine&) const = default;
};

template <class T>
void compose(const void* in, void* inout, Count n, void* context) {
  const T* lower = static_cast<const T*>(in);
  T* higher = static_cast<T*>(inout);
  for (Count i = 0; i < n; ++i) higher[i] = {lower[i].m * higher[i].m, lower[i].c * higher[i].m + higher[i].c};
  *static_cast<Count*>(context) += n;
}

template <class T>
void check_compose(Count n) {
  std::mt19937_64 random(seed);
  std::vector<T> lower, higher, wanted;
  for (Count i = 0; i < n; ++i) {
    lower.push_back({static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())});
    higher.push_back({static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())});
  }
  wanted = higher;
  Count calls = 0;
  compose<T>(lower.data(), wanted.data(), n, &calls);
  ASSERT_EQ(calls, n);
  const auto run = [&](const std::vector<T>& source, std::vector<T> target, plan::Side side) {
    calls = 0;
    reduce({Op::user, false, compose<T>, &calls}, Type::opaque, sizeof(T),
           reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data()), n, side);
    EXPECT_EQ(calls, n);
    return target;
  };
  EXPECT_EQ(run(lower, higher, plan::Side::left), wanted);
  EXPECT_EQ(run(higher, lower, plan::Side::right), wanted);
}

TEST(Reduction, KeepsTheOrderOfAUsersFunction) {
  for (const Count n : {0, 1, 341, 342, 1025}) {
    check_compose<Affine<4>>(n);
    check_compose<Affine<4088>>(n / 100);
    check_compose<Affine<5000>>(n / 100);
  }
}

}  // namespace
}  // namespace tutti::engine
