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
#include "collectives/allreduce/halving.hpp"

namespace tutti::collectives::allreduce {

plan::Plan rabenseifner(const Shape& shape) {
  return halving(shape, [](Rank position, int round, Rank) {
    const Rank distance = Rank{1} << round;
    return Meeting{position ^ distance, (position & distance) == 0};
  });
}

}  // namespace tutti::collectives::allreduce
