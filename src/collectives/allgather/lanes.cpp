// SPDX-License-Identifier: BSD-3-Clause
// Lanes: everybody exchanges its block with one rank of each other host by messages, then with all ranks of its host,
// through cells, what it has got so. All ranks of a host send, each a part: bandwidth, where one rank alone does not
// fill the wire. Träff, Hunold 2020, Decomposing MPI Collectives for Exploiting Multi-lane Communication.
// Cost: that of an allgather among H hosts, and of one on the board of blocks of H n.
//
//     hosts 0 1 | 2 3    0 = 2   1 = 3      0: 02 1: 13 > 0 1: 0213      2: 02 3: 13 > 2 3: 0213
#include "collectives/packed.hpp"

namespace tutti::collectives::allgather {

plan::Plan lanes(const Shape& shape) {
  const Hosts hosts(shape);
  const Count lane = hosts.count() * shape.count;
  Composition b(shape, lane);
  const Rank local = hosts.local(shape.rank);
  std::vector<Rank> order;
  for (Rank other = 0; other < hosts.size(0); ++other)
    for (const Rank rank : hosts.lane(other)) order.push_back(rank);
  const Packed blocks(every(shape, output_block), order);
  const Slice all = blocks.room(b);
  const std::vector<Rank> ranks = hosts.lane(local);
  Shape across = b.shape_among(ranks, shape.rank, shape.count);
  across.in_place = shape.in_place && blocks.at_home();
  b.among(ranks, Kind::allgather, across, contribution(shape, output_block(shape, shape.rank)),
          all.part(local * lane, lane));
  Shape here = b.shape_here(shape.rank, lane);
  here.in_place = true;
  b.here(Kind::allgather, here, {}, all);
  if (!blocks.at_home()) blocks.unpack(b, all, shape.in_place ? shape.rank : -1);
  return b.build();
}

}  // namespace tutti::collectives::allgather
