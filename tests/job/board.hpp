// SPDX-License-Identifier: BSD-3-Clause
// A group's board, for tests that damage it.
#pragma once

#include "host/board.hpp"

namespace tutti::test {

/// The first group's in a job's memory, as its rank 0 has it; none where there is no such board.
inline host::Board find_board(host::Segment& segment, Rank size) {
  const std::size_t bytes = host::Board::bytes(size);
  for (host::Offset at = segment.header().heap; at < segment.header().heap_next.load(); at += host::page) {
    std::byte* const memory = segment.at(at, bytes);
    const auto& header = *reinterpret_cast<const host::BoardHeader*>(memory);
    if (header.magic.load() == host::board_magic) return host::Board(memory, size, 0, header.context.load());
  }
  return {};
}

}  // namespace tutti::test
