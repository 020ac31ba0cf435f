// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: pairs tell each other that all whom they know of have come; the distance doubles. Each connection
// carries both directions of a round at once, which dissemination's do not. Thakur, Rabenseifner, Gropp 2005,
// doi 10.1177/1094342005051521. Cost: log2 P alpha.
//
//     P = 4    round 0  0=1 2=3
//              round 1  0=2 1=3
#include "collectives/algorithm.hpp"

namespace tutti::collectives::barrier {

plan::Plan recursive_doubling(const Shape& shape) {
  plan::Builder b(shape.rank, shape.size);
  std::vector<Handle> known;
  for (Rank distance = 1; distance < shape.size; distance *= 2) {
    const Rank other = shape.rank ^ distance;
    b.send(other, b.scratch(0)).after(known);
    known.push_back(b.recv(other, b.scratch(0)));
  }
  return b.build();
}

}  // namespace tutti::collectives::barrier
