// SPDX-License-Identifier: BSD-3-Clause
// Copies of any length, from and to any place in a line: all bytes, and no others.
#include "base/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace tutti::base {
namespace {

using Copy = void (*)(std::byte*, const std::byte*, std::size_t);
constexpr std::size_t guard = 160;
constexpr std::byte untouched{0xa5};

/// What is wrong with a copy of so many bytes, or an empty text.
std::string wrong(Copy copy, std::size_t bytes, std::size_t from, std::size_t to) {
  std::vector<std::byte> source(bytes + from + 1), target(bytes + to + guard, untouched);
  Random random(bytes + 3 * from + 5 * to);
  for (std::byte& one : source) one = static_cast<std::byte>(random.below(250));  // never what guards are
  copy(target.data() + to, source.data() + from, bytes);
  const auto begin = target.begin() + static_cast<std::ptrdiff_t>(to), end = begin + static_cast<std::ptrdiff_t>(bytes);
  if (!std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from))) return "other bytes";
  const auto is_guard = [](std::byte one) { return one == untouched; };
  if (!std::all_of(target.begin(), begin, is_guard)) return "bytes before the target are written";
  return std::all_of(end, target.end(), is_guard) ? "" : "bytes behind the target are written";
}

void try_all(Copy copy, std::size_t least = 0) {
  for (const std::size_t bytes : {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 4095, 4096, 4097, 8192 + 31, 65536, 100'001})
    for (const std::size_t from : {0, 1, 8, 16, 63})
      for (const std::size_t to : {0, 1, 16, 48, 63, 64})
        if (bytes >= least) {
          ASSERT_EQ(wrong(copy, bytes, from, to), "") << bytes << " bytes, " << from << " to " << to;
        }
}

TEST(Copy, OfAnyLength) { try_all(copy); }
TEST(Copy, OfManyBytes) { try_all(copy_large, large_copy); }
TEST(Copy, PastTheCaches) { try_all(copy_streaming); }

TEST(CopyMutants, AreSeen) {
  const Copy short_by_one = [](std::byte* to, const std::byte* from, std::size_t bytes) { copy(to, from, bytes - 1); };
  const Copy long_by_one = [](std::byte* to, const std::byte* from, std::size_t bytes) {
    copy(to, from, bytes);
    to[bytes] = std::byte{0};
  };
  EXPECT_EQ(wrong(short_by_one, 5000, 3, 5), "other bytes");
  EXPECT_EQ(wrong(long_by_one, 5000, 3, 5), "bytes behind the target are written");
}

TEST(LargestCache, IsOfAPlausibleSize) {
  EXPECT_GE(largest_cache(), std::size_t{1} << 18);
  EXPECT_LE(largest_cache(), std::size_t{1} << 32);
}

}  // namespace
}  // namespace tutti::base
