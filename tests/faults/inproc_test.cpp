// SPDX-License-Identifier: BSD-3-Clause
// A rank that stops for good inside one process, by seed: the others report it, free their memory at once (which
// AddressSanitizer watches) and go on in groups without it. TUTTI_SEED=n runs one seed alone, TUTTI_BASE=n others.
#include <gtest/gtest.h>

#include "job/inproc.hpp"
#include "scenario.hpp"

namespace {

using tutti::Error;
using tutti::Group;
using tutti::PeerLost;
using tutti::Rank;
using tutti::Request;
using namespace tutti::faults;

constexpr std::uint64_t bound = 5'000'000'000;  // nanoseconds of the scheduler's clock

struct Stage {
  tutti::transport::inproc::Fibers* fibers = nullptr;
  tutti::host::Segment* segment = nullptr;
  std::uint64_t struck_at = 0;
  int reports = 0, ready = 0;
  bool board = true;

  void strike(Rank victim) {
    struck_at = fibers->now();
    fibers->freeze(victim);
    segment->declare_dead(victim);
  }
};

/// Rank after the victim: stops it at a step of its own.
tutti::matrix::Hooks hooks_of(Rank rank, const Scenario& scenario, Stage& stage, std::uint64_t& chances) {
  tutti::matrix::Hooks hooks;
  if (rank != (scenario.victim + 1) % scenario.size) return hooks;
  const auto chance = [&stage, &scenario, &chances] {
    if (stage.ready == scenario.size && chances++ == scenario.step && stage.struck_at == 0)
      stage.strike(scenario.victim);
  };
  if (scenario.blow == Blow::inside_reduction) hooks.reducing = chance;
  // In a prefix reduction there are ranks that combine nothing.
  const bool prefix = scenario.kind == tutti::Kind::scan || scenario.kind == tutti::Kind::exscan;
  if (scenario.blow != Blow::inside_reduction || prefix) hooks.before_wait = chance;
  return hooks;
}

void body(const Group& world, const Scenario& scenario, const std::vector<tutti::matrix::Case>& cases, Stage& stage) {
  const Rank rank = world.rank();
  std::uint64_t chances = 0;
  const auto hooks = hooks_of(rank, scenario, stage, chances);
  const Group half = world.split(rank % 2);
  ++stage.ready;
  auto random = scenario.order();
  try {
    for (int i = 0; i < 10'000; ++i) tutti::matrix::run(world, cases[random.below(cases.size())], hooks);
    ADD_FAILURE() << "rank " << rank << " noticed nothing";
  } catch (const PeerLost& error) {
    EXPECT_EQ(error.peer(), scenario.victim) << error.what();
    EXPECT_LT(stage.fibers->now() - stage.struck_at, bound) << error.what();
    ++stage.reports;
  }
  EXPECT_THROW(world.barrier(), PeerLost);
  if (half.size() == 1) return;
  if (rank % 2 == scenario.victim % 2) {
    EXPECT_THROW(half.barrier(), PeerLost);
  } else {
    for (const auto& one : quick_cases(half.size(), stage.board)) tutti::matrix::run(half, one);
  }
}

void run(const Scenario& scenario, bool board) {
  SCOPED_TRACE(scenario.text() + (board ? "" : ", without a board"));
  auto cases = scenario.cases();
  if (!board) std::erase_if(cases, [](const auto& one) { return one.algorithm->needs.board; });
  if (cases.empty()) return;
  Stage stage;
  stage.board = board;
  tutti::job::InprocOptions options{.fibers = true, .seed = scenario.seed, .board = board};
  options.single_copy = scenario.path == Path::single_copy;
  options.watch = [&stage](auto* fibers, tutti::host::Segment& segment) {
    stage.fibers = fibers;
    stage.segment = &segment;
  };
  tutti::job::run_inproc(scenario.size, options, [&](const Group& world) { body(world, scenario, cases, stage); });
  EXPECT_EQ(stage.reports, scenario.size - 1);
}

TEST(Inproc, ARankStopsForGood) {
  for (const std::uint64_t seed : seeds(0, 144)) {
    if (HasFailure()) break;
    const Scenario scenario(seed);
    run(scenario, true);
    if (scenario.path == Path::messages) run(scenario, false);
  }
}

}  // namespace
