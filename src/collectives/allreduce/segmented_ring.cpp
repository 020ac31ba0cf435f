// SPDX-License-Identifier: BSD-3-Clause
// Segmented ring: the data is cut into parts of P segments, and each part goes around as the ring's P blocks do. No
// part waits for another: one segment is under way while another is combined. Where a block is no longer than a
// segment, it is the ring. It starts each sum at another rank, so the operation must commute. Bandwidth: for long
// messages, where combining takes as long as moving. Open MPI's "segmented ring"; with one part, Hoefler's (2008) model
// III.7. Cost with segments of m: (P-1)/P n (2 alpha / m + beta + max(beta, gamma)) + gamma m.
//
//     P = 3, parts abc ABC    0          1          2
//     step 0                  c>1 C>1    a>2 A>2    b>0 B>0      while c is combined, C is under way
//     step 1                  b>1 B>1    c>2 C>2    a>0 A>0      and so on, as the ring
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {
namespace {

void go_around(Writer& b, const Shape& shape, Slice part) {
  const Ring line = collectives::ring(shape.rank, 0, shape.size);
  const std::vector<Slice> blocks = cut(part, shape.size);
  std::vector<Handle> have(blocks.size()), busy(blocks.size());
  if (shape.size == 1) b.copy(operand(shape, part), part);
  for (Rank step = 1; step < shape.size; ++step) {
    const auto out = static_cast<std::size_t>(around(shape.rank - step, shape.size));
    const auto in = static_cast<std::size_t>(around(shape.rank - step - 1, shape.size));
    // The first leaves from the input, and is not copied: it comes back complete.
    busy[out] = b.send(line.right, step == 1 ? operand(shape, blocks[out]) : blocks[out]).after(have[out]);
    const Handle mine = b.copy(operand(shape, blocks[in]), blocks[in]);
    have[in] = b.recv_reduce(line.left, blocks[in], Side::left).after(mine);
  }
  pass_around(b, line, blocks, have, busy);
}

}  // namespace

plan::Plan segmented_ring(const Shape& shape) {
  Writer b(shape);
  const Count block = shape.count / shape.size + 1;
  for (const Slice& part : segments(whole(shape), shape.size * std::min(segment_of(shape), block)))
    go_around(b, shape, part);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
