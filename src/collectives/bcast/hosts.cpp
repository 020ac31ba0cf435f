// SPDX-License-Identifier: BSD-3-Clause
// Hosts: the data goes from the root to one leader on each other host by messages, and on each host from the leader to
// the others through cells. Each host receives the data once, and passes on what has come while more comes.
// Cost: that of a bcast among H hosts, and of one on the board.
//
//     hosts 0 1 2 | 3 4, root 1:    1 -> 3      1 # > 0 2      3 # > 4
#include "collectives/compose.hpp"

namespace tutti::collectives::bcast {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count, shape.root);
  if (b.leads())
    b.among(b.leaders(), Kind::bcast, b.shape_among(b.leaders(), shape.root, shape.count), {}, whole(shape));
  b.here(Kind::bcast, b.shape_here(b.leader(), shape.count), {}, whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::bcast
