// SPDX-License-Identifier: BSD-3-Clause
// Rabenseifner: pairs share the work: each combines one half of what both have; the distance doubles, the halves
// shrink. Then the way back: pairs exchange their complete parts. Any P: fold.hpp first makes a power of two.
// Neighbours combine first, so that the order of the ranks is kept. Bandwidth, in few rounds.
// Rabenseifner 2004, doi 10.1007/978-3-540-24685-5_1. Cost: 2 log2 P alpha + 2 (P-1)/P beta n + (P-1)/P gamma n.
//
//     P = 4    0       1       2       3
//     start    abcd    abcd    abcd    abcd
//     round 0  ab      cd      ab      cd      sums over 0 1 and over 2 3
//     round 1  a       c       b       d       sums over all
//     round 2  ab      cd      ab      cd
//     round 3  abcd    abcd    abcd    abcd
#include "collectives/allreduce/fold.hpp"

namespace tutti::collectives::allreduce {
namespace {

/// What one round of the way there did, for the way back.
struct Round {
  Rank other;
  Slice kept, given;
  Handle sent;
};

}  // namespace

plan::Plan rabenseifner(const Shape& shape) {
  Writer b(shape);
  const Team team(shape);
  if (team.sits_out()) {
    team.sit_out(b, shape);
    return b.build();
  }
  std::vector<Handle> ready{team.take_in(b, shape)};
  std::vector<Round> rounds;
  Slice part = whole(shape);
  for (Rank distance = 1; distance < team.size(); distance *= 2) {
    const bool upper = (team.position() & distance) != 0;
    const Rank other = team.rank(team.position() ^ distance);
    const Slice low = blocks(part, 0, 1, 2), high = blocks(part, 1, 2, 2);
    const Slice kept = upper ? high : low, given = upper ? low : high;
    const Handle sent = b.send(other, given).after(ready);
    ready = {b.recv_reduce(other, kept, upper ? Side::left : Side::right).after(ready)};
    rounds.push_back({other, kept, given, sent});
    part = kept;
  }
  for (std::size_t i = rounds.size(); i-- > 0;) {
    b.send(rounds[i].other, rounds[i].kept).after(ready);
    ready.push_back(b.recv(rounds[i].other, rounds[i].given).after(rounds[i].sent));
  }
  team.hand_out(b, shape, ready);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
