// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of the neighbor_ forms share: sending along edges, and reading what the sources have published.
#pragma once

#include <vector>

#include "collectives/board.hpp"

namespace tutti::collectives::edges {

/// What a rank gives: one block to all its destinations, or one to each.
enum class Gives : std::uint8_t { one, each };

/// Another rank, once, with all the slots of the edges to it.
struct Other {
  Rank rank;
  std::vector<Rank> slots;
};

/// The other ranks at the ends of these edges, in the order of their first edges: not this rank, and not nobody.
std::vector<Other> others(const Shape& shape, std::span<const Edge> edges);

/// As board::block_ring, fits, offer and offered, for algorithms that take a cell for each edge: areas enough for all
/// blocks under way are there where ranks have few edges.
inline board::Ring block_ring(const Shape& shape) { return board::ring_of(shape.widest + 1); }
inline bool fits(const Shape& shape, Slice block) { return board::fits(shape, block_ring(shape), block); }
inline Handle offer(Writer& b, board::Line& line, const Shape& shape, std::int32_t cell, Slice block) {
  return board::offer(b, line, shape, block_ring(shape), cell, block);
}
inline Slice offered(const Shape& shape, Rank owner, std::int32_t cell, Slice block) {
  return board::offered(shape, block_ring(shape), owner, cell, block);
}

/// The block that goes along this rank's edge `slot`.
Slice outgoing(const Shape& shape, Gives gives, Rank slot);

/// What a source gives to neighbor_reduce, and the step after which it lies there.
struct Given {
  Rank rank;
  Slice data;
  Handle ready;
};

/// Combines a part of what all sources give into the same part of the output, in the order of the edges: what is not
/// `given` comes in a message, or is this rank's own. Returns the last step.
Handle combine(Writer& b, const Shape& shape, Slice target, std::span<const Given> given);

/// Copies the blocks of edges from this rank to itself.
void copy_own(Writer& b, const Shape& shape, Gives gives);

/// Every block in a message of its own, all at once.
plan::Plan linear(const Shape& shape, Gives gives);

/// Everybody sends each other rank one message, however many edges lead there: the blocks of these edges in the order
/// of its own slots, or its one block once.
plan::Plan combined(const Shape& shape, Gives gives);

/// Everybody makes all it gives visible as one piece, in cell 0 or, when exposed, as it lies in its memory; everybody
/// copies its own blocks from its sources' pieces, and says so in cell 1 where they were exposed. For agreed counts.
plan::Plan in_one_piece(const Shape& shape, Gives gives, bool exposed);
/// The same, where what is read is combined.
plan::Plan combined_in_one_piece(const Shape& shape, bool exposed);

}  // namespace tutti::collectives::edges
