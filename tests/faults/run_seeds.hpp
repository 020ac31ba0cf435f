// SPDX-License-Identifier: BSD-3-Clause
// Scenario after scenario, and nothing left behind.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "job.hpp"
#include "scenario.hpp"

namespace tutti::faults {

/// Calls run(scenario) for the seeds first, first + share, ... up to the first failure; the test's own process must end
/// up without children and leftovers.
template <class Run>
void run_seeds(std::uint64_t first, std::uint64_t count, During during, Run run) {
  adopt_orphans();
  const auto before = left_in_shared_memory();
  for (const std::uint64_t seed : seeds(first, count)) {
    if (::testing::Test::HasFailure()) break;
    Scenario scenario(seed);
    scenario.during = during;
    run(scenario);
  }
  EXPECT_FALSE(has_children());
  EXPECT_EQ(left_in_shared_memory(), before);
}

}  // namespace tutti::faults
