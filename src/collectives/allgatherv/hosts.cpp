// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host everybody publishes its block for all others there, the leaders exchange parcels of a host each,
// and each host reads what came from its leader's cells; all in scratch, whence the blocks go to their places.
// Cost: 2 alpha on the board, beta (sum of n) each; that of an allgatherv among H hosts with larger blocks.
//
//     hosts 0 1 2 | 3 4    0 # 1 # 2 #  >  0 1 2      3 # 4 #  >  3 4      0 -012-> 3 -34-> 0      0 # > 1 2 ...
#include "collectives/packed.hpp"

namespace tutti::collectives::allgatherv {

plan::Plan hosts(const Shape& shape) {
  const Packed blocks(every(shape, output_block), Hosts(shape).all());
  Composition b(shape, blocks.total());
  const HostBlocks hosts(b.hosts(), blocks);
  const Slice all = b.scratch(blocks.total());
  b.copy(contribution(shape, output_block(shape, shape.rank)), blocks.block(all, shape.rank));
  for (const Rank rank : b.hosts().here()) {
    const Slice block = blocks.block(all, rank);
    b.here(Kind::bcast, b.shape_here(rank, block.count), {}, block);
  }
  hosts.exchange(b, all, false);
  blocks.unpack(b, all, shape.in_place ? shape.rank : -1);
  return b.build();
}

}  // namespace tutti::collectives::allgatherv
