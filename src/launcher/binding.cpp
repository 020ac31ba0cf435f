// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/binding.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "tutti/error.hpp"

namespace tutti::launcher {

namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load(const std::string& synthetic) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) throw Error(Cause::system, "hwloc cannot be started; try --bind none");
  Topology topology(made);
  if ((!synthetic.empty() && hwloc_topology_set_synthetic(made, synthetic.c_str()) != 0) ||
      hwloc_topology_load(made) != 0)
    throw Error(Cause::system, "hwloc cannot read this machine's topology; try --bind none");
  return topology;
}

}  // namespace

std::vector<int> binding_order(const std::vector<int>& allowed, const std::string& synthetic) {
  const Topology topology = load(synthetic);
  std::vector<std::vector<int>> turns;  // the first allowed processor of every core, the second of every core, ...
  std::vector<int> rest = allowed;      // what hwloc does not show (a container's view of /sys may be incomplete)
  const auto take = [&](hwloc_const_cpuset_t set) {
    std::size_t turn = 0;
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
      const auto place = std::ranges::find(rest, cpu);
      if (place == rest.end()) continue;
      rest.erase(place);
      if (turns.size() == turn) turns.emplace_back();
      turns[turn++].push_back(cpu);
    }
  };
  // By logical index, which goes through packages and caches one after the other, whatever the system's numbers are.
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr) take(core->cpuset);
  std::vector<int> order;
  for (const std::vector<int>& turn : turns) order.insert(order.end(), turn.begin(), turn.end());
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

int processor_of(const std::vector<int>& order, int rank, int ranks) {
  const auto count = static_cast<std::int64_t>(order.size());
  const std::int64_t index = ranks <= count ? rank : static_cast<std::int64_t>(rank) * count / ranks;
  return order[static_cast<std::size_t>(index)];
}

}  // namespace tutti::launcher
