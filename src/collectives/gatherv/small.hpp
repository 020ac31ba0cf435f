// SPDX-License-Identifier: BSD-3-Clause
// Blocks that go through cells, whatever becomes of the large ones.
#pragma once

#include "collectives/board.hpp"

namespace tutti::collectives::gatherv {

inline constexpr board::Ring ring = board::Ring::large;

/// Of more than two ranks, what fits half an area is sooner copied twice than read from their memory, one by one.
inline bool fits(const Shape& shape, Slice block) {
  return board::fits(shape, ring, block) || (shape.size > 2 && block.count <= shape.cell.large / 2);
}

/// Hands in this rank's block if it is small, or empty; whether it was.
inline bool hand_in_small(Writer& b, const Shape& shape, Slice mine) {
  if (mine.count > 0 && !fits(shape, mine)) return false;
  board::Line line;
  if (mine.count > 0) board::put(b, line, 0, mine);
  return true;
}

}  // namespace tutti::collectives::gatherv
