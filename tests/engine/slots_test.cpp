// SPDX-License-Identifier: BSD-3-Clause
// Which slots payloads get: in turn, never one that is in use while others are free, and few at first.
#include "engine/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace tutti::engine {
namespace {

constexpr std::size_t all = 240;
constexpr Slots::Wanted full(std::size_t slots) { return {slots, 8192 * slots}; }
constexpr auto read_by_all = [](std::uint64_t) { return true; };
constexpr auto read_by_nobody = [](std::uint64_t cell) { return cell == 0; };

TEST(Slots, GoAround) {
  Slots slots(all);
  std::vector<std::uint64_t> last(all);
  base::Random random(5);
  std::size_t end = 0;
  for (std::uint64_t cell = 1; cell <= 20'000; ++cell) {
    const std::size_t count = 1 + random.below(8);
    const Slots::Given given = slots.give(full(count), cell, read_by_all);
    ASSERT_LE(given.slot + count, all);
    ASSERT_TRUE(given.slot == end || given.slot == 0) << "cell " << cell;
    const auto mine = last.begin() + static_cast<std::ptrdiff_t>(given.slot);
    ASSERT_EQ(given.before, *std::max_element(mine, mine + static_cast<std::ptrdiff_t>(count))) << "cell " << cell;
    std::fill_n(mine, count, cell);
    end = given.slot + count;
  }
  EXPECT_NE(last.back(), 0u) << "in the end all of them are used";
  EXPECT_EQ(slots.cell(all - 1), last.back());
}

TEST(Slots, FewAtFirst) {
  Slots slots(all);
  std::size_t highest = 0;
  for (std::uint64_t cell = 1; cell <= 256; ++cell)
    highest = std::max(highest, slots.give(full(1), cell, read_by_all).slot);
  EXPECT_EQ(highest, 15u) << "sixteen times around";
  for (std::uint64_t cell = 257; cell <= 300; ++cell)
    highest = std::max(highest, slots.give(full(1), cell, read_by_all).slot);
  EXPECT_EQ(highest, 31u);
}

TEST(Slots, SmallPayloadsNeedMoreTimesAround) {
  Slots slots(all);
  auto highest = [&, cell = std::uint64_t{0}](int calls, auto consumed) mutable {
    std::size_t found = 0;
    while (calls-- > 0) found = std::max(found, slots.give({1, 1024}, ++cell, consumed).slot);
    return found;
  };
  EXPECT_EQ(highest(8 * 256, read_by_all), 15u) << "eight of them fill a slot";
  EXPECT_EQ(highest(32, read_by_all), 31u);
  EXPECT_GT(highest(100, [](std::uint64_t) { return false; }), 63u) << "readers are behind";
}

TEST(Slots, AllOfThemBeforeOneThatIsNotRead) {
  Slots slots(all);
  for (std::uint64_t cell = 1; cell <= all; ++cell)
    ASSERT_EQ(slots.give(full(1), cell, read_by_nobody).before, 0u) << cell;
  EXPECT_EQ(slots.give(full(1), all + 1, read_by_nobody).before, 1u);
}

TEST(Slots, AnOperationHasAsManyAsItNeeds) {
  // Nine of the largest, of which the last may be cut off by the end: none meets another, whatever came before.
  constexpr std::size_t largest = 8, areas = 8;
  for (std::size_t before = 0; before < 72; ++before) {
    Slots slots(all);
    std::uint64_t cell = 0;
    slots.expect((areas + 1) * largest);
    for (std::size_t i = 0; i < before; ++i) slots.give(full(1), ++cell, read_by_all);
    const std::uint64_t first = cell + 1;
    slots.expect((areas + 1) * largest);
    for (std::size_t i = 0; i < areas; ++i)
      ASSERT_LT(slots.give(full(largest), ++cell, read_by_all).before, first) << before;
  }
}

}  // namespace
}  // namespace tutti::engine
