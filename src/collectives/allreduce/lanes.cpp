// SPDX-License-Identifier: BSD-3-Clause
// Lanes: on each host everybody combines a share of the data from everybody's cells; the ranks with the same share, one
// a host, combine theirs by messages; and everybody collects the shares from cells. All ranks of a host send, each a
// part: bandwidth, where one rank alone does not fill the wire or the host's memory. The order of the ranks is kept
// where hosts follow each other. Träff, Hunold 2020, Decomposing MPI Collectives for Exploiting Multi-lane
// Communication. Cost: those of a reduce_scatter and an allgather on the board, and of an allreduce of n/m among H
// hosts.
//
//     hosts 0 1 | 2 3, shares a b    0: a 1: b    2: a 3: b      0 =a= 2   1 =b= 3      0 1: ab    2 3: ab
#include "collectives/lanes.hpp"

namespace tutti::collectives::allreduce {

plan::Plan lanes(const Shape& shape) {
  Composition b(shape, shape.count);
  const Lanes lanes(b, shape, whole(shape));
  const Slice home = lanes.share(), sum = shape.in_place ? b.scratch(home.count) : home;
  Shape up = b.shape_here(b.leader(), 0);
  up.recv_counts = lanes.counts();
  up.recv_offsets = lanes.offsets();
  b.here(Kind::reduce_scatter, up, operand(shape, whole(shape)), sum);
  Shape across = b.shape_among(lanes.ranks(), shape.rank, sum.count);
  across.in_place = true;
  b.among(lanes.ranks(), Kind::allreduce, across, {}, sum);
  b.copy(sum, home);
  lanes.collect(b);
  return b.build();
}

}  // namespace tutti::collectives::allreduce
