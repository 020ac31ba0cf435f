// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: a tournament in which everybody meets everybody once, each round in pairs that swap their blocks (with odd
// P one rank pauses). In place a swap needs one block of scratch, free again for the next round; nothing else is
// copied. With a radix so many rounds at most are under way, so that not all send to the same link at once; without,
// and not in place, no round waits for another. Bandwidth: nothing is forwarded, and every link is busy both ways.
// Cost: (P - 1) (alpha + beta n), for odd P one round more.
//
//     P = 4    round 0   0=3  1=2
//              round 1   0=1  2=3
//              round 2   0=2  1=3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoall {
namespace {

/// An odd number of ranks needs so many rounds; with even P the last rank meets those who would pause.
Rank odd_part(Rank size) { return size - (size % 2 == 0 ? 1 : 0); }

/// Whom `rank` meets in a round; itself when it pauses. Ranks meet whose sum is the round, modulo an odd number.
Rank opponent(Rank rank, Rank round, Rank size) {
  const Rank odd = odd_part(size);
  if (rank == odd) return static_cast<Rank>(static_cast<Count>(round) * ((odd + 1) / 2) % odd);  // half of the round
  const Rank other = around(round - rank, odd);
  return other == rank && odd < size ? odd : other;
}

}  // namespace

plan::Plan pairwise(const Shape& shape) {
  Writer b(shape);
  const Slice spare = b.scratch(shape.in_place ? largest_block(shape) : 0);
  const auto under_way = static_cast<std::size_t>(shape.parameters.radix);
  Handle stored;                            // after which `spare` may be written again
  std::vector<std::vector<Handle>> rounds;  // both ways of each
  move_own_block(b, shape);
  for (Rank round = 0; round < odd_part(shape.size); ++round) {
    const Rank other = opponent(shape.rank, round, shape.size);
    if (other == shape.rank) continue;
    std::vector<Handle> before;
    if (under_way > 0 && rounds.size() >= under_way) before = rounds[rounds.size() - under_way];
    const Slice home = output_block(shape, other), mine = shape.in_place ? home : input_block(shape, other);
    const Slice target = shape.in_place ? spare.part(0, home.count) : home;
    const Handle sent = b.send(other, mine).after(before);
    const Handle received = b.recv(other, target).after(before).after(stored);
    rounds.push_back({sent, received});
    const Handle copied = b.copy(target, home).after({sent, received});
    if (copied.exists()) stored = copied;
  }
  return b.build();
}

}  // namespace tutti::collectives::alltoall
