// SPDX-License-Identifier: BSD-3-Clause
// Where cells, members and records lie, and what a view refuses.
#include "host/board.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::host {
namespace {

struct Range {
  const void* begin;
  std::size_t bytes;
};

std::vector<Range> parts(const Board& board, int size) {
  std::vector<Range> all{{&board.header(), sizeof(BoardHeader)}};
  for (Rank rank = 0; rank < size; ++rank) {
    all.push_back({&board.member(rank), sizeof(Member)});
    for (std::uint64_t i = 0; i < cells; ++i) all.push_back({&board.ahead(rank, i), sizeof(std::uint64_t)});
    for (std::uint64_t i = 0; i < cells; ++i) all.push_back({&board.cell(rank, i), sizeof(Cell)});
    for (std::uint64_t i = 0; i < areas; ++i)
      all.push_back({board.area(rank, i * slots_of(large_payload)), large_payload});
    for (std::uint64_t i = 0; i < records; ++i) all.push_back({&board.record(rank, i), sizeof(Record)});
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return all;
}

TEST(Board, PartsAreDisjointAndInside) {
  const auto segment = Segment::local(2, 1);
  for (const int size : {1, 2, 3, 5, 8, 100}) {
    const std::size_t bytes = Board::bytes(size);
    std::byte* const memory = segment->at(segment->allocate(bytes), bytes);
    Board::format(memory, size, 42, size);
    const Board board(memory, size, 0, 42);
    const std::vector<Range> all = parts(board, size);
    EXPECT_EQ(all.size(), 1u + static_cast<std::size_t>(size) * (1 + 2 * cells + areas + records));
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      EXPECT_LE(static_cast<const std::byte*>(all[i].begin) + all[i].bytes, all[i + 1].begin);
    EXPECT_EQ(all.front().begin, memory);
    EXPECT_LE(static_cast<const std::byte*>(all.back().begin) + all.back().bytes, memory + bytes);
  }
}

TEST(Board, CellsHaveLinesOfTheirOwnAndRingsComeRound) {
  const auto segment = Segment::local(2, 1);
  std::byte* const memory = segment->at(segment->allocate(Board::bytes(3)), Board::bytes(3));
  Board::format(memory, 3, 42, 3);
  const Board board(memory, 3, 2, 42);
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&board.cell(1, i)) % line, 0u);
    EXPECT_EQ(&board.cell(1, i), &board.cell(1, i + cells));
    EXPECT_EQ(&board.record(1, i), &board.record(1, i + records));
    EXPECT_NE(&board.cell(1, i), &board.cell(1, i + 1));
    EXPECT_NE(&board.cell(1, i), &board.cell(2, i));
  }
  EXPECT_EQ(&board.cell(1, (std::uint64_t{1} << 32) + 3), &board.cell(1, 3)) << "a wrapped sequence stays in step";
}

TEST(Board, AreasBeginAtSlotsThatThereAre) {
  const auto segment = Segment::local(2, 1);
  std::byte* const memory = segment->at(segment->allocate(Board::bytes(3)), Board::bytes(3));
  Board::format(memory, 3, 42, 3);
  const Board board(memory, 3, 2, 42);
  const auto all = static_cast<std::uint64_t>(slots(3));
  for (Rank rank = 0; rank < 3; ++rank) {
    for (std::uint64_t slot = 0; slot < all; ++slot) {
      const std::byte* const begin = board.area(rank, slot);
      ASSERT_NE(begin, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin) % line, 0u);
      EXPECT_LE(begin + large_payload, reinterpret_cast<const std::byte*>(&board.record(0, 0)));
    }
    for (const std::uint64_t wrong : {all, all + 1, std::uint64_t{1} << 32, ~std::uint64_t{0}})
      EXPECT_EQ(board.area(rank, wrong), nullptr) << wrong;
  }
}

TEST(Board, TakesWhatItIsGivenAnyway) {
  // The heap gives powers of two.
  EXPECT_EQ(std::bit_ceil(Board::bytes(2)), std::size_t{4} << 20);
  EXPECT_EQ(std::bit_ceil(Board::bytes(4)), std::size_t{8} << 20);
  EXPECT_EQ(std::bit_ceil(Board::bytes(8)), std::size_t{16} << 20);
  for (int size = 1; size <= 256; ++size) {
    EXPECT_GE(slots(size), least_slots) << size;
    EXPECT_LE(slots(size), slots(1)) << size;
    EXPECT_GE(Board::bytes(size + 1), Board::bytes(2)) << "tutti why looks for boards in steps of the smallest";
  }
}

TEST(Board, RanksOfOneCoreUseNoMoreSlotsThanOneAlone) {
  for (int size = 2; size <= 256; ++size)
    for (int crowd = 1; crowd <= size; ++crowd) {
      const int used = slots_used(size, crowd);
      ASSERT_GE(used, least_slots) << size << " ranks, " << crowd << " a core";
      ASSERT_LE(used, slots(size)) << size << " ranks, " << crowd << " a core";
      ASSERT_TRUE(used == least_slots || used * crowd <= slots(size)) << size << " ranks, " << crowd << " a core";
    }
  EXPECT_EQ(slots_used(2, 1), slots(2));
  EXPECT_EQ(slots_used(4, 2), slots(4) / 2);
}

/// How many pages of a stretch of memory there are.
std::size_t pages_there(const void* begin, const void* end) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  std::vector<unsigned char> there((reinterpret_cast<std::uintptr_t>(end) - first + page - 1) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(first), there.size() * page, there.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(there, [](unsigned char one) { return (one & 1) != 0; }));
}

TEST(Board, RanksShareTheWorkOfMakingCellsThere) {
  for (const int size : {2, 3, 8}) {
    const auto segment = Segment::local(size, 1);
    std::byte* const memory = segment->at(segment->allocate(Board::bytes(size)), Board::bytes(size));
    Board::format(memory, size, 42, size);
    const std::size_t share = 256 * sizeof(Cell) / 4096;
    for (int rank = 0; rank < size; ++rank) {
      const Board board(memory, size, rank, 42);
      Cell& mine = board.cell(rank, 300);
      mine.word.store(static_cast<std::uint64_t>(rank) + 7, std::memory_order_relaxed);
      const auto there = [&] { return pages_there(&board.cell(0, 256), &board.cell(size - 1, cells - 1) + 1); };
      const std::size_t before = there();
      board.touch_cells(256, cells);
      const std::size_t after = there();
      EXPECT_LE(after, before + share) << "more than a share of " << size << " by rank " << rank;
      EXPECT_EQ(mine.word.load(std::memory_order_relaxed), static_cast<std::uint64_t>(rank) + 7);
      if (rank == size - 1) {
        EXPECT_GE(after, share * static_cast<std::size_t>(size));
      }
    }
  }
}

TEST(Board, FormatSetsWhatIsNotZero) {
  const auto segment = Segment::local(2, 1);
  std::byte* const memory = segment->at(segment->allocate(Board::bytes(3)), Board::bytes(3));
  Board::format(memory, 3, 42, 2);
  const Board board(memory, 3, 1, 42);
  EXPECT_EQ(board.header().users.load(), 2);
  EXPECT_EQ(board.header().broken.load(), 0u);
  for (Rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(board.member(rank).touching.load(), -1);
    EXPECT_EQ(board.member(rank).consumed.load(), 0u);
    EXPECT_EQ(board.cell(rank, 0).word.load(), 0u);
  }
}

TEST(Board, AViewRefusesOtherMemory) {
  const auto segment = Segment::local(2, 1);
  std::byte* const memory = segment->at(segment->allocate(Board::bytes(3)), Board::bytes(3));
  EXPECT_THROW(Board(memory, 3, 0, 42), Error) << "not formatted";
  Board::format(memory, 3, 42, 3);
  EXPECT_THROW(Board(memory, 3, 0, 43), Error);
  EXPECT_THROW(Board(memory, 4, 0, 42), Error);
  EXPECT_THROW(Board(memory, 3, 3, 42), Error);
  EXPECT_THROW(Board(memory, 3, -1, 42), Error);
  EXPECT_THROW(Board(memory + 64, 3, 0, 42), Error);
  EXPECT_TRUE(Board(memory, 3, 2, 42));
  EXPECT_FALSE(Board());
}

}  // namespace
}  // namespace tutti::host
