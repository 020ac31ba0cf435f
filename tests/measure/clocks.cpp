// SPDX-License-Identifier: BSD-3-Clause
// clocks SEED: ranks whose clocks go wrong by known amounts compare them. Rank 0 prints how wrong the timeline is, and
// how long it took. The ranks must share one real clock: one machine, or hosts made of namespaces.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "job/clocks.hpp"
#include "tutti/tutti.hpp"
#include "wrong_clock.hpp"

namespace {

using tutti::Rank;
using tutti::measure::Clock;
using tutti::measure::Fault;
using tutti::measure::Moment;
using tutti::measure::Scheme;
using tutti::measure::Timeline;

/// The same on all ranks: up to a day off, up to 100 us a second too fast or too slow.
std::vector<Fault> faults_of(Rank size, std::uint64_t seed, std::int64_t since) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> offset(-86'400'000'000'000, 86'400'000'000'000);
  std::uniform_real_distribution<double> drift(-100e-6, 100e-6);
  std::vector<Fault> faults;
  for (Rank rank = 0; rank < size; ++rank) faults.push_back({offset(random), drift(random), since});
  return faults;
}

struct Synchronisation {
  std::vector<Moment> moments;
  std::int64_t took = 0;
};

Synchronisation synchronise(tutti::job::ClockMessages& messages, const tutti::Group& world, const Clock& clock,
                            Scheme scheme) {
  world.barrier();
  const auto start = static_cast<std::int64_t>(tutti::base::now());
  Synchronisation done{tutti::measure::synchronise(messages, clock, scheme), 0};
  done.took = static_cast<std::int64_t>(tutti::base::now()) - start;
  return done;
}

void judge(const char* name, Scheme scheme, const std::vector<Fault>& faults, const Synchronisation& begin,
           const Synchronisation& end, std::int64_t time) {
  for (std::size_t rank = 1; rank < faults.size(); ++rank) {
    const Timeline timeline(static_cast<Rank>(rank), scheme, begin.moments, end.moments);
    const std::int64_t shown = faults[rank].shown(time);
    std::printf("%s rank %zu: error %lld bound %lld round %lld\n", name, rank,
                std::llabs(timeline.to_root(shown) - faults[0].shown(time)),
                static_cast<long long>(timeline.error(shown)), 2 * static_cast<long long>(begin.moments[rank].error));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const tutti::Group world = tutti::world();
  std::vector<Rank> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  tutti::job::ClockMessages messages(*world.member(), ranks, std::chrono::seconds(60));
  std::int64_t since = static_cast<std::int64_t>(tutti::base::now());
  world.bcast(std::span(&since, 1), 0);
  const auto faults = faults_of(world.size(), count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1, since);
  const Clock clock = wrong(tutti::measure::monotonic(), faults[static_cast<std::size_t>(world.rank())]);

  const Synchronisation tree = synchronise(messages, world, clock, Scheme::tree);
  const Synchronisation linear = synchronise(messages, world, clock, Scheme::linear);
  const auto between = static_cast<std::int64_t>(tutti::base::now());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const Synchronisation tree_again = synchronise(messages, world, clock, Scheme::tree);
  if (world.rank() != 0) return 0;
  judge("tree", Scheme::tree, faults, tree, tree_again, between);
  judge("linear", Scheme::linear, faults, linear, {}, between);
  std::printf("tree %lld linear %lld\n", static_cast<long long>(tree.took), static_cast<long long>(linear.took));
}
