// SPDX-License-Identifier: BSD-3-Clause
// The world of a real process, once it has a segment.
#include "job/runtime.hpp"
#include "transport/inproc/network.hpp"
#include "transport/mux.hpp"
#include "transport/shm/shm.hpp"

namespace tutti::job {

namespace {

std::shared_ptr<const tune::Table> table_of(const Process& process, std::uint64_t link_rate) {
  tune::Source source = process.table;
  source.conditions.ranks_per_core = process.ranks_per_core;
  source.conditions.link_rate = link_rate;
  return std::make_shared<const tune::Table>(source.table(tune::lines_of(process.algorithms)));
}

Place place_of(const Process& process) {
  Place place;
  place.engine.segment = process.segment;
  place.engine.world_rank = process.rank;
  place.engine.cores = process.cores;
  place.engine.algorithm_name = &algorithm_name;
  place.engine.caches = process.caches;
  place.engine.recorder = process.recorder;
  place.engine.timeout = process.timeout;
  place.table = table_of(process, 0);
  place.algorithms = process.algorithms;
  place.source = process.table;
  place.launcher = process.launcher;
  place.name = process.name;
  // Of other hosts too, where they share the cores: who spins keeps them from those that he waits for.
  place.engine.ranks_on_host =
      process.ranks_per_core > 1 ? process.ranks_per_core * process.cores : process.ranks_on_host;
  place.home = process.home;
  return place;
}

}  // namespace

std::shared_ptr<Member> make_world_apart(const Process& process, std::unique_ptr<transport::Transport> transport) {
  Place place = place_of(process);
  place.boards = false;
  const auto runtime = std::make_shared<Runtime>(std::move(place));
  runtime->engine().use(std::move(transport));
  return make_world(runtime, 0);
}

/// Shared memory to the processes of this host; nothing where there is none.
static std::unique_ptr<transport::Transport> near_transport(const Process& process, engine::Engine& engine) {
  if (process.segment->size() == 1) return nullptr;
  transport::shm::Options options;
  options.single_copy = process.single_copy;
  if (process.timeout != 0) options.patience = process.timeout;
  options.wake = [&engine](Rank other) { engine.waiting().ring(other); };
  return transport::shm::connect(process.segment, engine.place(), std::move(options));
}

std::shared_ptr<Member> make_process_world(const Process& process, Far far, host::Companion* companion) {
  const bool alone = process.segment->size() == 1 && far.transport == nullptr;
  Place place = place_of(process);
  place.engine.direct = alone;
  const bool several = far.transport != nullptr, sockets = several && far.descriptor >= 0;
  if (several) {
    place.hosts = process.hosts;
    place.engine.places = places(process.hosts, process.rank);
  }
  const auto runtime = std::make_shared<Runtime>(std::move(place));
  engine::Engine& engine = runtime->engine();
  if (companion != nullptr) engine.accompany(*companion);
  std::unique_ptr<transport::Transport> near = near_transport(process, engine);
  const bool single_copy = near == nullptr || near->capabilities().single_copy;
  if (several) {
    if (sockets) engine.waiting().watch(far.descriptor, process.ranks_per_core);
    engine.use(transport::mux(std::move(near), std::move(far.transport), engine.setup().places));
  } else {
    engine.use(alone ? transport::inproc::Network(1).transport(0) : std::move(near));
  }
  auto world = make_world(runtime, process.board);
  const Member::TableOf table = [&](std::uint64_t link_rate) { return table_of(process, link_rate); };
  if (!alone) world->agree_on_abilities(single_copy, several ? table : nullptr);
  world->decide_on_progress_thread(process.progress);
  return world;
}

}  // namespace tutti::job
