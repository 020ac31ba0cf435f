// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: pairs exchange all they have and combine it; the distance doubles. Any P: fold.hpp first makes a
// power of two. Each side keeps its order, so that reductions need not commute. Recursive multiplying in groups of two.
// Latency: for short messages. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521.
// Cost: (log2 P + 2 if P is no power of two) (alpha + beta n + gamma n).
//
//     P = 5    0   1   2   3   4
//     fold     0>1
//     round 0      1 = 2   3 = 4
//     round 1      1 ===== 3
//                      2 ===== 4
//     unfold   0<1
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {

plan::Plan recursive_doubling(const Shape& shape) {
  Shape pairs = shape;
  pairs.parameters.radix = 2;
  return recursive_multiplying(pairs);
}

}  // namespace tutti::collectives::allreduce
