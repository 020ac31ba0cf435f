// SPDX-License-Identifier: BSD-3-Clause
// Swing: as rabenseifner, between pairs that stay nearer to each other on a ring of ranks (swing.hpp). They are on
// alternating sides of each other, so the operation must commute. Bandwidth, where far ranks are many hops or a narrow
// link away. Cost: 2 log2 P alpha + 2 (P-1)/P beta n + (P-1)/P gamma n, over 0.7 of rabenseifner's ways.
//
//     P = 4    0       1       2       3
//     start    abcd    abcd    abcd    abcd
//     round 0  ab      cd      cd      ab      sums over 0 1 and over 2 3
//     round 1  a       c       d       b       sums over all: 0 and 3, 1 and 2 meet
//     round 2  ab      cd      cd      ab
//     round 3  abcd    abcd    abcd    abcd
#include "collectives/swing.hpp"

#include "collectives/allreduce/halving.hpp"

namespace tutti::collectives::allreduce {

plan::Plan swing(const Shape& shape) {
  return halving(shape, [](Rank position, int round, Rank positions) {
    return Meeting{collectives::swing(position, round, positions), is_first(position, round, positions)};
  });
}

}  // namespace tutti::collectives::allreduce
