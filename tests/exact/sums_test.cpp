// SPDX-License-Identifier: BSD-3-Clause
// Exact sums against the definition of rounding, on numbers that are hard to add.
#include "exact/sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "numbers.hpp"
#include "oracle.hpp"

namespace tutti::exact {
namespace {

using testing::all_sorts;
using testing::judge;
using testing::numbers;
using testing::Sort;

template <class T>
std::vector<T> row(const std::vector<std::vector<T>>& columns, std::size_t i) {
  std::vector<T> made;
  for (const auto& column : columns) made.push_back(column[i]);
  return made;
}

template <class T>
const std::byte* bytes(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

template <class T>
class Sums : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Sums, Types);

TYPED_TEST(Sums, of_arrays_are_rounded_once) {
  using T = TypeParam;
  for (const Sort sort : all_sorts)
    for (const std::size_t count : {1, 2, 3, 4, 5, 8, 13}) {
      const auto columns = numbers<T>(sort, count, 83, count);
      std::vector<const std::byte*> sources;
      for (const auto& column : columns) sources.push_back(bytes(column));
      std::vector<T> result(83);
      sum<T>(sources, reinterpret_cast<std::byte*>(result.data()), 83);
      if (count == 1) continue;  // a single number passes as it is
      for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(judge<T>(row(columns, i), result[i]), "") << name(sort) << " of " << count;
    }
}

TYPED_TEST(Sums, may_overwrite_a_source) {
  using T = TypeParam;
  auto columns = numbers<T>(Sort::full_range, 5, 21, 1);
  const auto given = columns;
  std::vector<const std::byte*> sources;
  for (const auto& column : columns) sources.push_back(bytes(column));
  sum<T>(sources, reinterpret_cast<std::byte*>(columns[2].data()), 21);
  for (std::size_t i = 0; i < 21; ++i) ASSERT_EQ(judge<T>(row(given, i), columns[2][i]), "");
}

TYPED_TEST(Sums, travel_as_words) {
  using T = TypeParam;
  for (const Sort sort : all_sorts)
    for (const Rank size : {1, 3, 71, 72, 100}) {
      constexpr Count rows = 67;
      const auto columns = numbers<T>(sort, static_cast<std::size_t>(size), rows, 7);
      std::vector<Word> all(words_of(size) * rows), one(all.size());
      for (Rank rank = 0; rank < size; ++rank) {
        encode<T>(bytes(columns[static_cast<std::size_t>(rank)]), rows, rank, size, one.data());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += one[i];
      }
      std::vector<T> result(rows);
      decode<T>(all.data(), rows, size, reinterpret_cast<std::byte*>(result.data()));
      if (size == 1) continue;
      for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(judge<T>(row(columns, i), result[i]), "") << name(sort) << " of " << size;
    }
}

TYPED_TEST(Sums, of_one_array_do_not_depend_on_how_it_is_cut) {
  using T = TypeParam;
  for (const Sort sort : all_sorts)
    for (const Count count : {0, 1, 7, 8, 511, 519, 5000}) {
      const std::vector<T> all = numbers<T>(sort, 1, static_cast<std::size_t>(count), 3).front();
      for (const Count pieces : {1, 2, 3, 7, 100}) {
        std::vector<Word> accumulator(words), part(words);
        for (Count piece = 0; piece < pieces; ++piece) {
          const Count begin = count * piece / pieces, end = count * (piece + 1) / pieces;
          fold<T>(bytes(all) + begin * Count{sizeof(T)}, end - begin, 1, part.data());
          for (std::size_t i = 0; i < words; ++i) accumulator[i] += part[i];
        }
        ASSERT_EQ(judge<T>(all, rounded<T>(accumulator.data())), "") << name(sort) << " " << count << " by " << pieces;
      }
    }
}

TYPED_TEST(Sums, keep_the_parts_of_complex_numbers_apart) {
  using T = TypeParam;
  for (const Sort sort : all_sorts) {
    const auto parts = numbers<T>(sort, 2, 1203, 5);
    std::vector<T> both;
    for (std::size_t i = 0; i < parts[0].size(); ++i) both.insert(both.end(), {parts[0][i], parts[1][i]});
    std::vector<Word> accumulators(2 * words);
    fold<T>(bytes(both), static_cast<Count>(both.size()), 2, accumulators.data());
    ASSERT_EQ(judge<T>(parts[0], rounded<T>(accumulators.data())), "") << name(sort);
    ASSERT_EQ(judge<T>(parts[1], rounded<T>(accumulators.data() + words)), "") << name(sort);
  }
}

TEST(exact_sums, are_found_wrong_when_they_are) {
  // What the oracle is for: plain sums, double rounding, an odd tie, a zero of the wrong sign.
  const std::vector<double> hidden = {1, 0x1p-60, -1};
  EXPECT_NE(judge<double>(hidden, std::accumulate(hidden.begin(), hidden.end(), 0.0)), "");
  EXPECT_EQ(judge<double>(hidden, 0x1p-60), "");
  const std::vector<double> tie = {1, 0x1p-53};
  EXPECT_EQ(judge<double>(tie, 1), "");
  EXPECT_NE(judge<double>(tie, 1 + 0x1p-52), "");
  const std::vector<float> nearly = {1, 0x1p-24f, 0x1p-80f};
  EXPECT_NE(judge<float>(nearly, 1), "") << "rounded to a double first";
  EXPECT_EQ(judge<float>(nearly, 1 + 0x1p-23f), "");
  const std::vector<double> zeros = {-0.0, -0.0};
  EXPECT_NE(judge<double>(zeros, 0.0), "");
  EXPECT_EQ(judge<double>(zeros, -0.0), "");
  const std::vector<double> large = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max(),
                                     -std::numeric_limits<double>::max()};
  EXPECT_NE(judge<double>(large, std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(judge<double>(large, large[0]), "");
}

}  // namespace
}  // namespace tutti::exact
