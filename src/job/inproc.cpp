// SPDX-License-Identifier: BSD-3-Clause
#include "job/inproc.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "job/runtime.hpp"
#include "transport/inproc/network.hpp"

namespace tutti::job {
namespace {

using transport::inproc::Fibers;
using transport::inproc::Network;

void run_threads(int size, const std::function<void(Rank)>& body) {
  std::mutex lock;
  std::exception_ptr first;
  std::vector<std::jthread> threads;
  for (Rank rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (...) {
        const std::lock_guard guard(lock);
        if (!first) first = std::current_exception();
      }
    });
  threads.clear();
  if (first) std::rethrow_exception(first);
}

int cores_of(const InprocOptions& options) {
  if (options.cores > 0) return options.cores;
  return options.fibers ? 1 : static_cast<int>(std::thread::hardware_concurrency());
}

struct Host {
  std::shared_ptr<host::Segment> segment;
  host::Offset board = 0;
};

std::vector<Host> hosts_of(const InprocOptions& options, int size) {
  constexpr std::uint64_t job = 1;
  std::vector<int> sizes;
  for (const Rank host : options.hosts) {
    sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(host) + 1));
    ++sizes[static_cast<std::size_t>(host)];
  }
  if (options.hosts.empty()) sizes.push_back(size);
  std::vector<Host> hosts;
  for (const int ranks : sizes) {
    hosts.push_back({host::Segment::local(ranks, job)});
    if (options.board) hosts.back().board = make_world_board(*hosts.back().segment);
  }
  return hosts;
}

}  // namespace

void run_inproc(int size, const InprocOptions& options, const std::function<void(Group world)>& body) {
  const std::vector<Host> hosts = hosts_of(options, size);
  const auto host = [&](Rank rank) -> const Host& {
    return hosts[options.hosts.empty() ? 0 : static_cast<std::size_t>(options.hosts[static_cast<std::size_t>(rank)])];
  };
  std::unique_ptr<Fibers> fibers;
  if (options.fibers) fibers = std::make_unique<Fibers>(size, options.seed);
  const auto table = std::make_shared<const tune::Table>(
      tune::Table::parse(tune::lines_of(options.algorithms) + tune::Table::standard({})));

  std::vector<std::shared_ptr<Runtime>> runtimes;
  transport::inproc::Options network_options;
  network_options.wake = [&](Rank rank) {
    engine::Engine& engine = runtimes[static_cast<std::size_t>(rank)]->engine();
    engine.waiting().ring(engine.place());
  };
  network_options.scheduler = fibers.get();
  network_options.seed = options.seed;
  const std::uint64_t delay = options.seed == 0 ? 0 : 20'000;
  network_options.delay = delay;
  Network network(size, std::move(network_options));
  for (Rank rank = 0; rank < size; ++rank) {
    Place place;
    place.engine = {host(rank).segment, rank, cores_of(options), true, fibers.get(), &algorithm_name};
    if (fibers) place.engine.caches = engine::Caches::shared;  // all on one core; and nothing depends on time
    if (!options.hosts.empty()) place.engine.places = places(options.hosts, rank);
    place.hosts = options.hosts;
    place.table = table;
    place.engine.timeout = options.timeout;
    place.boards = options.board;
    place.single_copy = options.single_copy;
    runtimes.push_back(std::make_shared<Runtime>(std::move(place)));
    runtimes.back()->engine().use(network.transport(rank));
    host(rank).segment->enter(runtimes.back()->engine().place());
  }
  const auto leave = [&](Rank rank) {
    runtimes[static_cast<std::size_t>(rank)]->engine().leave();
    // What this rank has sent arrives before the others learn that it has left.
    if (fibers)
      for (const std::uint64_t end = fibers->now() + delay; fibers->now() <= end;) fibers->yield();
    host(rank).segment->leave(runtimes[static_cast<std::size_t>(rank)]->engine().place());
  };
  const auto one = [&](Rank rank) {
    try {
      body(Group(make_world(runtimes[static_cast<std::size_t>(rank)], host(rank).board)));
    } catch (...) {
      leave(rank);
      throw;
    }
    leave(rank);
  };
  if (options.watch) options.watch(fibers.get(), *hosts.front().segment);
  fibers ? fibers->run(one) : run_threads(size, one);
}

}  // namespace tutti::job
