// SPDX-License-Identifier: BSD-3-Clause
#include "host/board.hpp"

#include <string>

#include "tutti/error.hpp"

namespace tutti::host {

std::size_t Board::bytes(int size) {
  const std::size_t per_rank =
      sizeof(Member) + small_cells * sizeof(Cell) + large_cells * large_bytes + records * sizeof(Record);
  return sizeof(BoardHeader) + static_cast<std::size_t>(size) * per_rank;
}

void Board::format(std::byte* memory, int size, std::uint64_t context, int users) {
  Board board;
  board.memory_ = memory;
  BoardHeader& header = board.header();
  header.context.store(context, std::memory_order_relaxed);
  header.size.store(size, std::memory_order_relaxed);
  header.users.store(users, std::memory_order_relaxed);
  header.who.store(-1, std::memory_order_relaxed);
  header.whom.store(-1, std::memory_order_relaxed);
  for (Rank i = 0; i < size; ++i) board.member(i).reading.store(-1, std::memory_order_relaxed);
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
  size_ = size;
  rank_ = rank;
  small_ = memory_ + sizeof(BoardHeader) + static_cast<std::size_t>(size) * sizeof(Member);
  large_ = small_ + static_cast<std::size_t>(size) * small_cells * sizeof(Cell);
  records_ = reinterpret_cast<Record*>(large_ + static_cast<std::size_t>(size) * large_cells * large_bytes);
}

}  // namespace tutti::host
