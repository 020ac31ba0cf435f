// SPDX-License-Identifier: BSD-3-Clause
// Binomial tree: everybody combines what its children bring, nearest first, and sends the sum up. Operations that do
// not commute go up to rank 0, which sends the result to the root. Radix k gives k - 1 children a level. Latency: for
// short messages. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521. Cost: ceil(log2 P) (alpha + beta n +
// gamma n).
//
//     P = 6, root 0:   round 0  1>0 3>2 5>4     0 = 0+1   2 = 2+3   4 = 4+5
//                      round 1  2>0             0 = 0+1+2+3
//                      round 2  4>0             0 = 0+1+2+3+4+5
#include "collectives/reduce/along.hpp"

namespace tutti::collectives::reduce {

plan::Plan binomial(const Shape& shape) {
  Writer b(shape);
  along(b, shape, binomial_tree(shape.rank, start(shape), shape.size, shape.parameters.radix), whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::reduce
