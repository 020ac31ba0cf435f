// SPDX-License-Identifier: BSD-3-Clause
// The ring of a group's ranks, and the blocks that go around it.
#pragma once

#include <vector>

#include "collectives/writer.hpp"

namespace tutti::collectives {

/// One rank's place in the ring: everything comes from the left and goes to the right.
struct Ring {
  Rank position = 0;  ///< Behind the root.
  Rank size = 1;
  Rank left = 0, right = 0;          ///< Ranks.
  Rank held = 1, held_by_right = 1;  ///< Blocks there from the start, from the own position on.
};

Ring ring(Rank rank, Rank root, Rank size);

/// `position` taken around the ring; it may be up to one round too low or too high.
inline Rank around(Rank position, Rank size) {
  return position < 0 ? position + size : position < size ? position : position - size;
}

/// Every block goes around once, until all ranks hold all blocks; block x starts at position x. Blocks that a rank
/// held from the start are not sent to it.
/// `have[x]`: the step after which block x is here; filled in as blocks arrive.
/// `busy[x]`: the step after which block x may be overwritten; empty: at once.
///
///     P = 4    0   1   2   3      block that travels to the right
///     step 0   0   1   2   3
///     step 1   3   0   1   2
///     step 2   2   3   0   1
void pass_around(Writer& b, const Ring& ring, const std::vector<Slice>& blocks, std::vector<Handle>& have,
                 const std::vector<Handle>& busy = {});

}  // namespace tutti::collectives
