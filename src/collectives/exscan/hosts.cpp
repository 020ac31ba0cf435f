// SPDX-License-Identifier: BSD-3-Clause
// Hosts: an exscan on each host, to which the last rank adds its own for the host's sum; an exscan of these among the
// last ranks; and on each host but the first, everybody reads what the hosts before have combined and puts it before
// its own result. Hosts must follow each other. Cost: those of an exscan and a bcast on the board, and of an exscan
// among H hosts.
//
//     hosts 0 1 2 | 3 4    - 0 01      - 3      2 -012-> 4      4 # > 3      3: 012    4: 012 op 3
#include "collectives/scan/hosts_before.hpp"

namespace tutti::collectives::exscan {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count);
  const Slice sum = whole(shape), mine = operand(shape, sum);
  // The sum of the last host is nobody's.
  const bool adds = !b.alone() && shape.rank == b.hosts().here().back() && b.hosts().mine() + 1 < b.hosts().count();
  const Slice total = adds ? b.scratch(shape.count) : mine;
  if (adds) b.copy(mine, total);
  Shape inner = b.shape_here(b.leader(), shape.count);
  inner.in_place = shape.in_place;
  b.here(Kind::exscan, inner, mine, sum);
  if (adds) b.reduce(sum, total, Side::left);
  const Slice before = scan::hosts_before(b, shape, total);
  if (before.count == 0) return b.build();
  if (b.leads())
    b.copy(before, sum);
  else
    b.reduce(before, sum, Side::left);
  return b.build();
}

}  // namespace tutti::collectives::exscan
