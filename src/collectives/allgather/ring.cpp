// SPDX-License-Identifier: BSD-3-Clause
// Ring: every block goes around once; everybody passes on to the right what came from the left. Bandwidth: only
// neighbours talk, and every link is always busy. Cost: (P - 1) (alpha + beta n).
//
//     P = 4    0   1   2   3      block that travels to the right
//     step 0   0   1   2   3
//     step 1   3   0   1   2
//     step 2   2   3   0   1
#include <utility>

#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgather {

plan::Plan ring(const Shape& shape) {
  Writer b(shape);
  std::vector<Slice> blocks = every(shape, output_block);
  std::vector<Handle> have(blocks.size());
  Slice& mine = blocks[static_cast<std::size_t>(shape.rank)];
  const Slice home = std::exchange(mine, contribution(shape, mine));  // the first send need not wait for the copy
  b.copy(mine, home);
  pass_around(b, collectives::ring(shape.rank, 0, shape.size), blocks, have);
  return b.build();
}

}  // namespace tutti::collectives::allgather
