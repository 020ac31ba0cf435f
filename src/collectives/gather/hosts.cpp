// SPDX-License-Identifier: BSD-3-Clause
// Hosts: on each host the leader collects everybody's block from cells, then the root, who leads its host, receives one
// parcel a host. Where hosts do not follow each other it brings the blocks to their places at the end.
// Cost: that of a gather on the board, and of one among H hosts with larger blocks.
//
//     hosts 0 1 2 | 3 4, root 1:    0 # 2 #  >  1      4 #  >  3      3 -34-> 1
#include "collectives/packed.hpp"

namespace tutti::collectives::gather {
namespace {

void across(Composition& b, const Shape& shape, const HostBlocks& hosts, Slice all, Slice parcel) {
  const bool even = b.hosts().even();
  Shape inner = b.shape_among(b.leaders(), shape.root, even ? parcel.count : 0);
  inner.in_place = shape.rank == shape.root;
  const Count mine[] = {parcel.count};
  if (!even) {
    inner.send_counts = mine;
    inner.recv_counts = hosts.counts;
    inner.recv_offsets = hosts.offsets;
  }
  b.among(b.leaders(), even ? Kind::gather : Kind::gatherv, inner, parcel, all);
}

}  // namespace

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count, shape.root);
  const bool at_root = shape.rank == shape.root;
  const Packed blocks(every(shape, output_block), b.hosts().all());
  const HostBlocks hosts(b.hosts(), blocks);
  const Slice mine = at_root ? contribution(shape, output_block(shape, shape.rank)) : my_input(shape);
  const Slice all = at_root ? blocks.room(b) : Slice();
  Slice parcel = mine;
  if (at_root)
    parcel = hosts.of(all, b.hosts().mine());
  else if (b.leads() && !b.alone())
    parcel = b.scratch(hosts.of(all, b.hosts().mine()).count);
  if (at_root || !b.alone()) {
    Shape up = b.shape_here(b.leader(), shape.count);
    up.in_place = shape.in_place && blocks.at_home();
    b.here(Kind::gather, up, mine, parcel);
  }
  if (b.leads()) across(b, shape, hosts, all, parcel);
  if (at_root && !blocks.at_home()) blocks.unpack(b, all, shape.in_place ? shape.rank : -1);
  return b.build();
}

}  // namespace tutti::collectives::gather
