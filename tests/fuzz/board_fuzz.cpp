// SPDX-License-Identifier: BSD-3-Clause
// The memory where a group's board should be. Input: the header's fields; then whatever lies behind.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "host/board.hpp"
#include "tutti/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti;
  if (size < 4) return 0;
  constexpr std::uint64_t context = 0x1122334455667788;
  const int ranks = 1 + data[0] % 4;
  const Rank rank = static_cast<std::int8_t>(data[1]) % 6;
  const std::size_t bytes = host::Board::bytes(ranks) + host::line;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(host::line, bytes));
  std::byte* const start = static_cast<std::byte*>(memory.get()) + (data[2] % 8 == 0 ? 8 : 0);
  std::fill_n(static_cast<std::byte*>(memory.get()), bytes, std::byte{0});
  if (data[3] % 2 == 0 && data[2] % 8 != 0) host::Board::format(start, ranks, context, ranks);
  const auto rest = std::as_bytes(std::span(data + 4, size - 4));
  std::copy_n(rest.begin(), std::min(rest.size(), bytes - host::line), start);
  try {
    const host::Board board(start, ranks, rank, context);
    if (board.size() != ranks || board.rank() != rank || rank < 0 || rank >= ranks) std::abort();
    const auto inside = [&](const void* at, std::size_t length) {
      const auto* first = static_cast<const std::byte*>(at);
      return first >= start && first + length <= start + host::Board::bytes(ranks);
    };
    for (const std::uint64_t sequence : {0ul, 15ul, ~0ul})
      for (Rank r = 0; r < ranks; ++r)
        if (!inside(&board.cell(r, sequence), sizeof(host::Cell)) ||
            !inside(&board.record(r, sequence), sizeof(host::Record)))
          std::abort();
    // Whatever lies in the cells, all of it stays.
    const auto content = [&] {
      const auto* first = reinterpret_cast<const std::byte*>(&board.cell(0, 0));
      return std::span(first, host::cells * static_cast<std::size_t>(ranks) * sizeof(host::Cell));
    };
    const std::vector<std::byte> before(content().begin(), content().end());
    board.touch_cells(0, host::cells);
    if (!std::ranges::equal(before, content())) std::abort();
    // Wherever a cell says that its payload lies: what it says is any bytes of the input.
    std::uint64_t said = 0;
    std::memcpy(&said, rest.data(), std::min(rest.size(), sizeof said));
    const auto slots = static_cast<std::uint64_t>(host::slots(ranks));
    for (const std::uint64_t slot : {said, said % (slots + 1), slots - 1})
      for (Rank r = 0; r < ranks; ++r) {
        const std::byte* const area = board.area(r, slot);
        if (slot < slots ? !inside(area, host::large_payload) : area != nullptr) std::abort();
      }
  } catch (const Error& error) {
    if (error.cause() != Cause::system) std::abort();
  }
  return 0;
}
