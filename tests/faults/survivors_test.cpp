// SPDX-License-Identifier: BSD-3-Clause
// One to three of a group die at random points, also inside agree and shrink: all survivors decide the same, and their
// new group works. TUTTI_SEED=n runs one seed alone, TUTTI_SEEDS=n so many of each kind.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "matrix/processes.hpp"
#include "scenario.hpp"
#include "survivor.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Group;
using tutti::Rank;
using tutti::faults::Fate;

constexpr Rank most_ranks = 8;
constexpr int patience = 60;

/// What each process has said, in memory that outlives it.
struct Told {
  struct Of {
    char text[2000];
    std::atomic<std::size_t> length;
    std::atomic<std::uint64_t> longest;
  } of[most_ranks];

  static Told& make() {
    void* const memory = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) Told{};
  }
  void say(Rank rank, const std::string& line) {
    Of& one = of[rank];
    const std::size_t at = one.length.load(std::memory_order_relaxed);
    if (at + line.size() + 1 > sizeof one.text) throw std::runtime_error("it says too much");
    (line + "\n").copy(one.text + at, line.size() + 1);
    one.length.store(at + line.size() + 1, std::memory_order_release);  // partner: text()
  }
  std::string text(Rank rank) const { return {of[rank].text, of[rank].length.load(std::memory_order_acquire)}; }
};

std::uint64_t count(std::uint64_t usual) {
  const char* const more = std::getenv("TUTTI_SEEDS");
  return more != nullptr ? std::strtoull(more, nullptr, 10) : usual;
}

/// What all seeds together have met.
struct Met {
  std::uint64_t longest = 0;
  int deaths = 0, shrinks = 0;
};

/// `hosts`: where the ranks are; empty: all on one.
void run(const Fate& fate, Rank size, const std::vector<Rank>& hosts, Met& met) {
  SCOPED_TRACE(fate.text() + " size " + std::to_string(size));
  Told& told = Told::make();
  const auto said = tutti::matrix::run_processes(size, {.hosts = hosts}, patience, [&](const Group& world) {
    const Rank me = world.rank();
    told.of[me].longest = live(world, fate, [&](const std::string& line) { told.say(me, line); });
  });
  std::string all;
  for (Rank rank = 0; rank < size; ++rank) {
    const bool may_die = std::ranges::find(fate.deaths, rank, &Fate::Death::rank) != fate.deaths.end();
    const std::string& end = said[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(end.empty() || (may_die && end == "killed by signal 9")) << "rank " << rank << ": " << end;
    met.deaths += end.empty() ? 0 : 1;
    met.longest = std::max<std::uint64_t>(met.longest, told.of[rank].longest);
    // The dead have decided as the others, too, as long as they lived.
    const std::string mine = told.text(rank);
    if (all.starts_with(mine)) continue;
    EXPECT_TRUE(mine.starts_with(all)) << "rank " << rank << " decided\n" << mine << "and another one\n" << all;
    all = mine;
  }
  for (std::size_t at = 0; (at = all.find("shrunk", at)) != std::string::npos; ++at) ++met.shrinks;
  munmap(&told, sizeof told);
}

void run_all(std::uint64_t first, std::uint64_t usual, const std::function<std::vector<Rank>(Rank size)>& dealt) {
  Met met;
  for (const std::uint64_t seed : tutti::faults::seeds(first, count(usual))) {
    if (::testing::Test::HasFailure()) break;
    tutti::base::Random random(tutti::base::mix(seed));
    const auto size = static_cast<Rank>(2 + random.below(most_ranks - 1));
    run(Fate(seed, size), size, dealt(size), met);
  }
  std::printf("%d deaths, %d shrinks, the longest took %.1f ms\n", met.deaths, met.shrinks,
              static_cast<double>(met.longest) * 1e-6);
}

std::vector<Rank> over_hosts(Rank size, Rank each) {
  std::vector<Rank> hosts;
  for (Rank rank = 0; rank < size; ++rank) hosts.push_back(rank / each);
  return hosts;
}

TEST(Survivors, OnOneHost) {
  run_all(0, 24, [](Rank) { return std::vector<Rank>(); });
}
TEST(Survivors, EachOnItsOwnHost) {
  run_all(2000, 8, [](Rank size) { return over_hosts(size, 1); });
}
TEST(Survivors, OverHosts) {
  run_all(1000, 16, [](Rank size) { return over_hosts(size, 3); });
}

}  // namespace
