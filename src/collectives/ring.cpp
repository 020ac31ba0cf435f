// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/ring.hpp"

#include "collectives/tree.hpp"

namespace tutti::collectives {

Ring ring(Rank rank, Rank root, Rank size) {
  const Rank here = position(rank, root, size);
  return {here, size, around(rank - 1, size), around(rank + 1, size), 1, 1};
}

void pass_around(Writer& b, const Ring& ring, const std::vector<Slice>& blocks, std::vector<Handle>& have,
                 const std::vector<Handle>& busy) {
  for (Rank step = 0; step + 1 < ring.size; ++step) {
    const auto out = static_cast<std::size_t>(around(ring.position - step, ring.size));
    const auto in = static_cast<std::size_t>(around(ring.position - step - 1, ring.size));
    // Block `out` lies size - 1 - step places behind the right neighbour's own, block `in` as many behind mine.
    const Rank behind = ring.size - 1 - step;
    if (behind >= ring.held_by_right) b.send(ring.right, blocks[out]).after(have[out]);
    if (behind >= ring.held) have[in] = b.recv(ring.left, blocks[in]).after(busy.empty() ? Handle() : busy[in]);
  }
}

}  // namespace tutti::collectives
