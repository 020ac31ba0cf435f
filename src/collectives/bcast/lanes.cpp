// SPDX-License-Identifier: BSD-3-Clause
// Lanes: the root's host reads the data from its cells; each rank there sends a share of it to one rank a host by
// messages, and on each other host everybody collects the shares from cells. All ranks of a host send and receive, each
// a part: bandwidth, where one rank alone does not fill the wire. Träff, Hunold 2020, Decomposing MPI Collectives for
// Exploiting Multi-lane Communication. Cost: those of a bcast and an allgather on the board, and of a bcast of n/m
// among H hosts.
//
//     hosts 0 1 | 2 3, root 1, shares a b    1 # > 0      0 -a-> 2   1 -b-> 3      2 3: ab
#include "collectives/lanes.hpp"

namespace tutti::collectives::bcast {

plan::Plan lanes(const Shape& shape) {
  Composition b(shape, shape.count);
  const Lanes lanes(b, shape, whole(shape));
  const Rank source = b.hosts().of(shape.root);
  const bool has = source == b.hosts().mine();
  if (has) b.here(Kind::bcast, b.shape_here(shape.root, shape.count), {}, whole(shape));
  const Rank from = lanes.ranks()[static_cast<std::size_t>(source)];
  b.among(lanes.ranks(), Kind::bcast, b.shape_among(lanes.ranks(), from, lanes.share().count), {}, lanes.share());
  if (!has) lanes.collect(b);
  return b.build();
}

}  // namespace tutti::collectives::bcast
