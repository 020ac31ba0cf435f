// SPDX-License-Identifier: BSD-3-Clause
#include "host/board.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "tutti/error.hpp"

namespace tutti::host {

BoardLayout::BoardLayout(int size) {
  const auto ranks = static_cast<std::size_t>(size);
  members = sizeof(BoardHeader);
  ahead = members + ranks * sizeof(Member);
  cells = ahead + ranks * host::cells * sizeof(std::atomic<std::uint64_t>);
  areas = cells + ranks * host::cells * sizeof(Cell);
  // Of the slot that it is told a reader checks only that there is one: the largest payload lies inside even so.
  records = areas + ranks * static_cast<std::size_t>(slots(size)) * slot_stride + large_payload;
  identity = records + ranks * host::records * sizeof(Record);
  bytes = (identity + sizeof(BoardIdentity) + ranks * sizeof(std::int32_t) + line - 1) / line * line;
}

std::size_t Board::bytes(int size) { return BoardLayout(size).bytes; }

void Board::format(std::byte* memory, int size, std::uint64_t context, int users, std::string_view name,
                   std::span<const Rank> world) {
  Board board;
  board.memory_ = memory;
  BoardHeader& header = board.header();
  header.context.store(context, std::memory_order_relaxed);
  header.size.store(size, std::memory_order_relaxed);
  header.users.store(users, std::memory_order_relaxed);
  header.who.store(-1, std::memory_order_relaxed);
  header.whom.store(-1, std::memory_order_relaxed);
  for (Rank i = 0; i < size; ++i) board.member(i).touching.store(-1, std::memory_order_relaxed);
  std::byte* const identity = memory + BoardLayout(size).identity;
  std::ranges::copy(name.substr(0, line - 1), reinterpret_cast<char*>(identity));
  for (Rank i = 0; i < size; ++i) {
    const std::int32_t rank = world.empty() ? i : world[static_cast<std::size_t>(i)];
    std::memcpy(identity + sizeof(BoardIdentity) + static_cast<std::size_t>(i) * sizeof rank, &rank, sizeof rank);
  }
  header.magic.store(board_magic, std::memory_order_release);  // Pairs with the load in the constructor.
}

Board::Board(std::byte* memory, int size, Rank rank, std::uint64_t context) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory) % line == 0;
  const auto* found = aligned ? reinterpret_cast<const BoardHeader*>(memory) : nullptr;
  const char* complaint = nullptr;
  if (found == nullptr || found->magic.load(std::memory_order_acquire) != board_magic)
    complaint = "there is none";
  else if (found->context.load(std::memory_order_relaxed) != context)
    complaint = "it belongs to another group";
  else if (found->size.load(std::memory_order_relaxed) != size || rank < 0 || rank >= size)
    complaint = "it has another size";
  if (complaint != nullptr)
    throw Error(Cause::system, "the group's board is not where it should be: " + std::string(complaint) +
                                   "; some process wrote where it must not");
  memory_ = memory;
  slots_ = static_cast<std::size_t>(slots(size));
  size_ = size;
  rank_ = rank;
  const BoardLayout layout(size);
  ahead_ = reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + layout.ahead);
  cells_ = memory_ + layout.cells;
  areas_ = memory_ + layout.areas;
  records_ = reinterpret_cast<Record*>(memory_ + layout.records);
}

void Board::touch_cells(std::uint64_t begin, std::uint64_t end) const {
  constexpr std::uint64_t page = 4096, each = page / sizeof(Cell);
  const auto ranks = static_cast<std::uint64_t>(size_),
             first = begin * ranks + static_cast<std::uint64_t>(rank_) * each;
  auto* const all = reinterpret_cast<Cell*>(cells_);
  for (std::uint64_t cell = first; cell < end * ranks; cell += ranks * each) {
    // Relaxed: the word stays as it is, whoever stores it; only the page has to be there. Compilers leave simpler ways
    // to change nothing out.
    std::uint64_t seen = all[cell].word.load(std::memory_order_relaxed);
    all[cell].word.compare_exchange_strong(seen, seen, std::memory_order_relaxed);
  }
}

}  // namespace tutti::host
