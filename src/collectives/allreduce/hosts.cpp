// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host the leader combines everybody's cells, the leaders combine their sums by messages, and each host
// reads the result from its leader's cells. Only leaders send: where messages, not bytes, are what costs. The order of
// the ranks is kept where hosts follow each other. Cost: those of a reduce and a bcast on the board, and of an
// allreduce among H hosts.
//
//     hosts 0 1 2 | 3 4    1 # 2 #  >  0 = 0+1+2      4 #  >  3 = 3+4      0 = 3      0 # > 1 2      3 # > 4
#include "collectives/compose.hpp"

namespace tutti::collectives::allreduce {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count);
  const Slice mine = operand(shape, whole(shape)), sum = whole(shape);
  if (!b.alone()) {
    Shape up = b.shape_here(b.leader(), shape.count);
    up.in_place = shape.in_place && b.leads();
    b.here(Kind::reduce, up, mine, sum);
  }
  if (b.leads()) {
    Shape across = b.shape_among(b.leaders(), 0, shape.count);
    across.in_place = shape.in_place || !b.alone();
    b.among(b.leaders(), Kind::allreduce, across, mine, sum);
  }
  b.here(Kind::bcast, b.shape_here(b.leader(), shape.count), {}, sum);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
