// SPDX-License-Identifier: BSD-3-Clause
// Hosts: the leader of each host waits for the cells of the others there, the leaders meet by messages, and one cell of
// the leader lets its host go. Only leaders send, however many ranks a host has, in rounds; with a radix along
// a tree of it. Cost: 2 alpha of the memory + ceil(log2 H) alpha, H hosts.
//
//     hosts 0 1 2 | 3 4    1 # 2 #  >  0      4 #  >  3      0 = 3      0 #  >  1 2      3 #  >  4
#include "collectives/compose.hpp"

namespace tutti::collectives::barrier {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, 0);
  if (!b.alone()) b.take_cells(board::Ring::small, 2);
  if (!b.leads()) {
    b.publish(0, board::nothing(shape.rank, 0));
    b.await(b.leader(), 1, 0);
    return b.build();
  }
  std::vector<Handle> come;
  if (!b.alone()) come.push_back(b.await(board::everyone, 0, 0));
  const Shape leaders = b.shape_among(b.leaders(), 0, 0);
  const plan::Plan meeting = among_leaders(Kind::barrier, leaders, 0).build(leaders);
  const std::vector<Handle> met = b.stage(meeting, b.leaders(), {}, {}, come);
  come.insert(come.end(), met.begin(), met.end());
  if (!b.alone()) b.publish(1, board::nothing(shape.rank, 1)).after(come);
  return b.build();
}

}  // namespace tutti::collectives::barrier
