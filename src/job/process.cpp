// SPDX-License-Identifier: BSD-3-Clause
// The world of a real process, once it has a segment.
#include "job/runtime.hpp"
#include "transport/inproc/network.hpp"
#include "transport/shm/shm.hpp"

namespace tutti::job {

namespace {

Place place_of(const Process& process) {
  Place place;
  place.engine.segment = process.segment;
  place.engine.world_rank = process.rank;
  place.engine.cores = process.cores;
  place.engine.algorithm_name = &algorithm_name;
  place.table = std::make_shared<const tune::Table>(
      tune::Table::parse(tune::lines_of(process.algorithms) + process.table.lines + tune::Table::standard()));
  place.algorithms = process.algorithms;
  place.source = process.table;
  place.timeout = process.timeout;
  return place;
}

}  // namespace

std::shared_ptr<Member> make_world_apart(const Process& process, int ranks_on_host,
                                         std::unique_ptr<transport::Transport> transport) {
  Place place = place_of(process);
  place.engine.ranks_on_host = ranks_on_host;
  place.boards = false;
  const auto runtime = std::make_shared<Runtime>(std::move(place));
  runtime->engine().use(std::move(transport));
  return make_world(runtime, 0);
}

std::shared_ptr<Member> make_process_world(const Process& process) {
  const bool alone = process.segment->size() == 1;
  Place place = place_of(process);
  place.engine.direct = alone;
  const auto runtime = std::make_shared<Runtime>(std::move(place));
  engine::Engine& engine = runtime->engine();
  if (alone) {
    engine.use(transport::inproc::Network(1).transport(0));
    auto world = make_world(runtime, 0);
    world->decide_on_progress_thread(process.progress);
    return world;
  }
  transport::shm::Options options;
  options.single_copy = process.single_copy;
  if (process.timeout != 0) options.patience = process.timeout;
  options.wake = [&engine](Rank other) { engine.waiting().ring(other); };
  engine.use(transport::shm::connect(process.segment, process.rank, std::move(options)));
  auto world = make_world(runtime, process.board);
  world->agree_on_abilities(engine.transport().capabilities().single_copy);
  world->decide_on_progress_thread(process.progress);
  return world;
}

}  // namespace tutti::job
