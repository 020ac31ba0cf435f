// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/scan/hosts_before.hpp"

namespace tutti::collectives::scan {

Slice hosts_before(Composition& b, const Shape& shape, Slice total) {
  const Hosts& hosts = b.hosts();
  const Slice before = b.scratch(hosts.mine() == 0 ? 0 : shape.count);
  std::vector<Rank> last;
  for (Rank host = 0; host < hosts.count(); ++host) last.push_back(hosts.ranks(host).back());
  const Rank mine = hosts.here().back();
  if (shape.rank == mine) b.among(last, Kind::exscan, b.shape_among(last, shape.rank, shape.count), total, before);
  b.here(Kind::bcast, b.shape_here(mine, before.count), {}, before);
  return before;
}

}  // namespace tutti::collectives::scan
