// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host the leader combines all of everybody's cells, the leaders reduce and scatter parcels of a host
// each, and everybody reads its block from the leader's cells. The order of the ranks is kept where hosts follow each
// other; where not, leaders pack the sums. Cost: that of a reduce of P n elements and a scatter on the board, and of a
// reduce_scatter among H hosts.
//
//     hosts 0 1 2 | 3 4    1 # 2 #  >  0      4 #  >  3      0: 34 -> 3    3: 012 -> 0      0 # > 1 2      3 # > 4
#include "collectives/packed.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {
namespace {

/// Brings everybody on the host its block of the parcel; blocks of several sizes are read by all.
void hand_out(Composition& b, const Shape& shape, const Packed& blocks, Slice parcel, Slice result) {
  if (shape.recv_counts.empty()) return b.here(Kind::scatter, b.shape_here(b.leader(), shape.count), parcel, result);
  if (!b.leads()) parcel = b.scratch(parcel.count);
  b.here(Kind::bcast, b.shape_here(b.leader(), parcel.count), {}, parcel);
  const Slice first = blocks.block(parcel, b.hosts().here().front());
  const Slice mine = blocks.block(parcel, shape.rank);
  b.copy(parcel.part(mine.offset - first.offset, mine.count), result);
}

}  // namespace

plan::Plan hosts(const Shape& shape) {
  const Operands operands(shape);
  const Slice mine = operands.all();
  Composition b(shape, mine.count);
  Slice sum = mine;
  if (!b.alone()) {
    if (b.leads()) sum = b.scratch(mine.count);
    b.here(Kind::reduce, b.shape_here(b.leader(), mine.count), mine, sum);
  }
  std::vector<Slice> homes;
  for (Rank rank = 0; rank < shape.size; ++rank) {
    const Slice block = operands.block(rank);
    homes.push_back(sum.part(block.offset - mine.offset, block.count));
  }
  const Packed blocks(homes, b.hosts().all());
  const HostBlocks hosts(b.hosts(), blocks);
  Slice parcel = hosts.of(sum, b.hosts().mine());
  if (b.leads()) {
    const Slice all = blocks.room(b);
    if (!blocks.at_home()) blocks.pack(b, all);
    parcel = b.alone() && !shape.in_place ? operands.result() : b.scratch(parcel.count);
    Shape across = b.shape_among(b.leaders(), 0, 0);
    across.recv_counts = hosts.counts;
    across.recv_offsets = hosts.offsets;
    b.among(b.leaders(), Kind::reduce_scatter, across, all, parcel);
  }
  if (b.alone())
    b.copy(parcel, operands.result());
  else
    hand_out(b, shape, blocks, parcel, operands.result());
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
