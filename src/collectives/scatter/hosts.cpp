// SPDX-License-Identifier: BSD-3-Clause
// Hosts: the root, who leads its host, sends one parcel to each other leader; on each host everybody reads its block
// from the leader's cells. Where hosts do not follow each other the root first packs the blocks of each.
// Cost: that of a scatter among H hosts with larger blocks, and of one on the board.
//
//     hosts 0 1 2 | 3 4, root 1:    1 -34-> 3      1 # > 0 2      3 # > 4
#include "collectives/packed.hpp"

namespace tutti::collectives::scatter {
namespace {

void across(Composition& b, const Shape& shape, const HostBlocks& hosts, Slice all, Slice parcel) {
  const bool even = b.hosts().even();
  Shape inner = b.shape_among(b.leaders(), shape.root, even ? parcel.count : 0);
  inner.in_place = shape.rank == shape.root;
  const Count mine[] = {parcel.count};
  if (!even) {
    inner.recv_counts = mine;
    inner.send_counts = hosts.counts;
    inner.send_offsets = hosts.offsets;
  }
  b.among(b.leaders(), even ? Kind::scatter : Kind::scatterv, inner, all, parcel);
}

}  // namespace

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count, shape.root);
  const bool at_root = shape.rank == shape.root;
  const Packed blocks(every(shape, input_block), b.hosts().all());
  const HostBlocks hosts(b.hosts(), blocks);
  const Slice all = at_root ? blocks.room(b) : Slice();
  if (at_root && !blocks.at_home()) blocks.pack(b, all, shape.in_place ? shape.rank : -1);
  Slice parcel = my_output(shape);
  if (at_root)
    parcel = hosts.of(all, b.hosts().mine());
  else if (b.leads() && !b.alone())
    parcel = b.scratch(hosts.of(all, b.hosts().mine()).count);
  if (b.leads()) across(b, shape, hosts, all, parcel);
  if (b.alone() && !at_root) return b.build();
  Shape down = b.shape_here(b.leader(), shape.count);
  down.in_place = shape.in_place;
  b.here(Kind::scatter, down, parcel, my_output(shape));
  return b.build();
}

}  // namespace tutti::collectives::scatter
