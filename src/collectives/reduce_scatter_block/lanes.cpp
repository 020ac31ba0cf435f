// SPDX-License-Identifier: BSD-3-Clause
// Lanes: on each host everybody combines, from everybody's cells, the blocks of one rank of each host; then these ranks
// reduce and scatter what they have by messages. All ranks of a host send, each a part: bandwidth, where one rank alone
// does not fill the wire. The order of the ranks is kept where hosts follow each other. Träff, Hunold 2020,
// Decomposing MPI Collectives for Exploiting Multi-lane Communication. Cost: those of a reduce_scatter on the board of
// blocks of H n, and of one among H hosts.
//
//     hosts 0 1 | 2 3, blocks abcd    0: ac 1: bd    2: ac 3: bd      0 -c-> 2 -a-> 0    1 -d-> 3 -b-> 1
#include "collectives/packed.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

plan::Plan lanes(const Shape& shape) {
  const Hosts hosts(shape);
  const Operands operands(shape);
  const Count lane = hosts.count() * shape.count;
  Composition b(shape, operands.all().count);
  std::vector<Slice> homes;
  std::vector<Rank> order;
  for (Rank rank = 0; rank < shape.size; ++rank) homes.push_back(operands.block(rank));
  for (Rank other = 0; other < hosts.size(0); ++other)
    for (const Rank rank : hosts.lane(other)) order.push_back(rank);
  const Packed blocks(homes, order);
  const Slice all = blocks.room(b), sums = b.scratch(lane);
  if (!blocks.at_home()) blocks.pack(b, all);
  b.here(Kind::reduce_scatter_block, b.shape_here(shape.rank, lane), all, sums);
  const std::vector<Rank> ranks = hosts.lane(hosts.local(shape.rank));
  b.among(ranks, Kind::reduce_scatter_block, b.shape_among(ranks, shape.rank, shape.count), sums, operands.result());
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
