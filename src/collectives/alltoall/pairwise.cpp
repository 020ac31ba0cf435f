// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: in round s the ranks whose sum is s (modulo P) swap their blocks. In place a swap needs one block of
// scratch, free again for the next round; nothing else is copied. Bandwidth: nothing is forwarded; for buffers so large
// that a second one does not fit. Without in place no round waits for another. Cost: (P - 1) (alpha + beta n).
//
//     P = 4    round 0   1=3          0 and 2 have their own block
//              round 1   0=1  2=3
//              round 2   0=2          1 and 3 have their own block
//              round 3   0=3  1=2
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoall {
namespace {

Count largest_block(const Shape& shape) {
  return shape.recv_counts.empty() ? shape.count : *std::ranges::max_element(shape.recv_counts);
}

}  // namespace

plan::Plan pairwise(const Shape& shape) {
  Writer b(shape);
  const Slice spare = b.scratch(shape.in_place ? largest_block(shape) : 0);
  Handle stored;  // after which `spare` may be written again
  for (Rank round = 0; round < shape.size; ++round) {
    const Rank other = around(round - shape.rank, shape.size);
    const Slice home = output_block(shape, other), mine = shape.in_place ? home : input_block(shape, other);
    if (other == shape.rank) {
      b.copy(mine, home);
      continue;
    }
    const Handle sent = b.send(other, mine);
    const Slice target = shape.in_place ? spare.part(0, home.count) : home;
    const Handle received = b.recv(other, target).after(stored);
    const Handle copied = b.copy(target, home).after({sent, received});
    if (copied.exists()) stored = copied;
  }
  return b.build();
}

}  // namespace tutti::collectives::alltoall
