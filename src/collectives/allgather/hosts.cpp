// SPDX-License-Identifier: BSD-3-Clause
// Hosts: an allgather through the cells of each host, one of parcels of a host each among the leaders, and each host
// reads what came from its leader's cells. Where all would fit one cell, everybody but the leader waits for the leader
// alone, whose cells hold the blocks of the own host too. Where hosts do not follow each other everybody brings the
// blocks to their places at the end. Cost: those of an allgather (or a gather) and a bcast on the board, and of an
// allgather among H hosts with larger blocks.
//
//     hosts 0 1 2 | 3 4    0 1 2: 012    3 4: 34      0 -012-> 3 -34-> 0      0 # > 1 2      3 # > 4
#include "collectives/packed.hpp"

namespace tutti::collectives::allgather {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.size * shape.count);
  const Packed blocks(every(shape, output_block), b.hosts().all());
  const HostBlocks hosts(b.hosts(), blocks);
  const Slice all = blocks.room(b);
  const bool at_once = blocks.total() <= shape.cell.large;
  Shape here = b.shape_here(at_once ? b.leader() : shape.rank, shape.count);
  here.in_place = shape.in_place && blocks.at_home() && (!at_once || b.leads());
  b.here(at_once ? Kind::gather : Kind::allgather, here, contribution(shape, output_block(shape, shape.rank)),
         hosts.of(all, b.hosts().mine()));
  hosts.exchange(b, all, at_once);
  if (!blocks.at_home()) blocks.unpack(b, all, shape.in_place ? shape.rank : -1);
  return b.build();
}

}  // namespace tutti::collectives::allgather
