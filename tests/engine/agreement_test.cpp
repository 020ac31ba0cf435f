// SPDX-License-Identifier: BSD-3-Clause
// The protocol of an agreement, by thousands of seeded schedules: all that decide decide the same, it is what those
// said who take part, and everybody comes to an end. TUTTI_SEED=n runs one seed alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "agreement_model.hpp"
#include "base/sanitizers.hpp"

namespace tutti::engine::model {
namespace {

/// Enough to meet each branch many times where a fault of memory is looked for, and the rarest orders elsewhere.
constexpr std::uint64_t seeds = base::sanitized ? 3000 : 30'000;

/// `judge`: what else has to be true.
void run(
    const World& world, const std::function<void(const Model&)>& judge = [](const Model&) {}) {
  std::uint64_t first = 0, end = seeds;
  if (const char* const alone = std::getenv("TUTTI_SEED")) end = (first = std::strtoull(alone, nullptr, 10)) + 1;
  std::uint64_t events = 0;
  for (std::uint64_t seed = first; seed < end && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model(seed, world);
    EXPECT_EQ(model.run(), "");
    judge(model);
    events += model.events();
  }
  ::testing::Test::RecordProperty("events", std::to_string(events));
}

TEST(Agreement, NobodyDies) { run({}); }
TEST(Agreement, OneDies) { run({.most_deaths = 1}); }
TEST(Agreement, ManyDie) { run({.most_deaths = 6}); }
TEST(Agreement, ManyDieAndAllAnswer) { run({.most_deaths = 6, .returning = false}); }
TEST(Agreement, WhatTheDeadSentIsLost) { run({.most_deaths = 6, .lossy = true}); }
TEST(Agreement, ConnectionsFail) { run({.most_cuts = 8}); }
TEST(Agreement, ConnectionsFailAndSomeDie) { run({.most_deaths = 1, .most_cuts = 2, .lossy = true}); }

/// Two that cannot reach each other, and nobody else: nearly always it costs one of them, and not the group.
TEST(Agreement, OneConnectionFails) {
  std::uint64_t refused = 0;
  run({.most_cuts = 1}, [&](const Model& model) { refused += model.decided() == 0 ? 1 : 0; });
  EXPECT_LT(refused, seeds / 100);
}

}  // namespace
}  // namespace tutti::engine::model
