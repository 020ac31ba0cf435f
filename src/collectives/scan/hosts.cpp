// SPDX-License-Identifier: BSD-3-Clause
// Hosts: a scan on each host, whose last rank then has the host's sum; an exscan of these among the last ranks; and on
// each host but the first, everybody reads what the hosts before have combined and puts it before its own. Hosts must
// follow each other. Cost: those of a scan and a bcast on the board, and of an exscan among H hosts.
//
//     hosts 0 1 2 | 3 4    0 01 012      3 34      2 -012-> 4      4 # > 3      3: 012 op 3    4: 012 op 34
#include "collectives/scan/hosts_before.hpp"

namespace tutti::collectives::scan {

plan::Plan hosts(const Shape& shape) {
  Composition b(shape, shape.count);
  const Slice sum = whole(shape);
  Shape inner = b.shape_here(b.leader(), shape.count);
  inner.in_place = shape.in_place;
  b.here(Kind::scan, inner, operand(shape, sum), sum);
  const Slice before = hosts_before(b, shape, sum);
  if (before.count > 0) b.reduce(before, sum, Side::left);
  return b.build();
}

}  // namespace tutti::collectives::scan
