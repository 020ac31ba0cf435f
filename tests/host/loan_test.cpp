// SPDX-License-Identifier: BSD-3-Clause
// Memory of the segment that a program computes in.
#include "host/loan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "child.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

using test::Child;

TEST(Loan, IsZeroedAndFoundWhereverOneLooksInIt) {
  for (const auto& segment : {Segment::create(2, 1), Segment::local(2, 1)})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{3} << 20, 2 * window_bytes + 5}) {
      std::byte* const memory = lend(segment, bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % page, 0u);
      EXPECT_TRUE(std::all_of(memory, memory + std::min(bytes, std::size_t{1} << 20),
                              [](std::byte b) { return b == std::byte{0}; }));
      const Offset begin = find_lent(*segment, memory, bytes);
      ASSERT_NE(begin, 0u);
      for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
        memory[at] = static_cast<std::byte>(at % 251 + 1);
        EXPECT_EQ(find_lent(*segment, memory + at, bytes - at), begin + at);
        EXPECT_EQ(*segment->at(begin + at, 1), memory[at]);
      }
      EXPECT_EQ(find_lent(*segment, memory, bytes + 1), 0u) << "more than was lent";
      EXPECT_EQ(find_lent(*segment, memory + 1, bytes), 0u);
      EXPECT_EQ(find_lent(*segment, memory - 1, 1), 0u);
      EXPECT_TRUE(take_back(memory));
      EXPECT_EQ(find_lent(*segment, memory, bytes), 0u);
      EXPECT_FALSE(take_back(memory)) << "a second time";
    }
}

TEST(Loan, OtherMemoryIsNone) {
  const auto segment = Segment::create(2, 1), other = Segment::create(2, 2);
  std::byte own[64];
  EXPECT_EQ(find_lent(*segment, own, sizeof own), 0u);
  EXPECT_FALSE(take_back(own));
  std::byte* const memory = lend(segment, 64);
  EXPECT_EQ(find_lent(*segment, own, sizeof own), 0u);
  EXPECT_EQ(find_lent(*other, memory, 64), 0u) << "another segment's";
  EXPECT_FALSE(take_back(memory + 1));
  EXPECT_TRUE(take_back(memory));
}

TEST(Loan, LeavesRoomForBoards) {
  const auto segment = Segment::local(2, 1);
  std::vector<std::byte*> all;
  const std::size_t bytes = std::bit_floor(segment->capacity() / 16);
  EXPECT_THROW(while (all.size() < 17) all.push_back(lend(segment, bytes)), Error);
  EXPECT_GE(all.size(), 8u);
  EXPECT_NE(segment->allocate(bytes / 2), 0u);
  for (std::byte* const memory : all) EXPECT_TRUE(take_back(memory));
}

TEST(Loan, OthersOfTheHostSeeIt) {
  const auto segment = Segment::create(2, 1);
  constexpr std::size_t bytes = 2 * window_bytes;
  std::byte* const memory = lend(segment, bytes);
  const Offset offset = find_lent(*segment, memory, bytes);
  for (const std::size_t at : {std::size_t{0}, window_bytes - 1, bytes - 1}) memory[at] = std::byte{7};
  EXPECT_TRUE(Child([&] {
                const auto mine = Segment::attach(dup(segment->descriptor()), 1);
                const std::byte* const seen = mine->at(offset, bytes);
                // A part over the border of windows lies in the same mapping.
                const bool same = mine->at(offset + window_bytes - 100, 200) == seen + window_bytes - 100;
                return same && seen[0] == std::byte{7} && seen[window_bytes - 1] == std::byte{7} &&
                       seen[bytes - 1] == std::byte{7} && find_lent(*mine, seen, 1) == 0;
              }).good());
  EXPECT_TRUE(take_back(memory));
}

TEST(Loan, StaysWithTheParentOfAFork) {
  const auto segment = Segment::create(2, 1);
  std::byte* const memory = lend(segment, 4096);
  EXPECT_TRUE(Child([&] { return take_back(memory); }).good());
  std::byte* const next = lend(segment, 4096);
  EXPECT_NE(next, memory) << "the child has given away what its parent still has";
  EXPECT_TRUE(take_back(memory));
  EXPECT_TRUE(take_back(next));
}

TEST(Loan, IsRefusedWhenTheSegmentIsFull) {
  const auto segment = Segment::create(2, 1);
  EXPECT_THROW(lend(segment, segment->capacity()), Error);
  std::byte* const memory = lend(segment, segment->capacity() / 4);
  EXPECT_TRUE(take_back(memory));
}

}  // namespace
}  // namespace tutti::host
