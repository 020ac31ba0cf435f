// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: pairs exchange all they have and combine it; the distance doubles. Any P: fold.hpp first makes a
// power of two. Each side keeps its order, so that reductions need not commute.
// Latency: for short messages. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521.
// Cost: (log2 P + 2 if P is no power of two) (alpha + beta n + gamma n).
//
//     P = 5    0   1   2   3   4
//     fold     0>1
//     round 0      1 = 2   3 = 4
//     round 1      1 ===== 3
//                      2 ===== 4
//     unfold   0<1
#include "collectives/allreduce/fold.hpp"

namespace tutti::collectives::allreduce {

plan::Plan recursive_doubling(const Shape& shape) {
  Writer b(shape);
  const Team team(shape);
  if (team.sits_out()) {
    team.sit_out(b, shape);
    return b.build();
  }
  const Slice sum = whole(shape);
  const Slice theirs = b.scratch(team.size() > 1 ? shape.count : 0);
  Handle ready = team.take_in(b, shape);
  Handle used;  // after which `theirs` may be written again
  for (Rank distance = 1; distance < team.size(); distance *= 2) {
    const Rank other = team.position() ^ distance;
    const Handle sent = b.send(team.rank(other), sum).after(ready);
    const Handle received = b.recv(team.rank(other), theirs).after(used);
    ready = used = b.reduce(theirs, sum, other < team.position() ? Side::left : Side::right).after({sent, received});
  }
  team.hand_out(b, shape, {ready});
  return b.build();
}

}  // namespace tutti::collectives::allreduce
