// SPDX-License-Identifier: BSD-3-Clause
// The matrix inside one process: threads, and fibers by seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "job/inproc.hpp"
#include "matrix.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

class Inproc : public ::testing::TestWithParam<Rank> {};

void run_all(Rank size, const tutti::job::InprocOptions& options, const std::vector<tutti::Count>& counts, int roots) {
  const auto cases = tutti::matrix::cases(size, counts, roots, options.board && options.hosts.empty() && size > 1,
                                          options.single_copy);
  ASSERT_FALSE(cases.empty());
  tutti::job::run_inproc(size, options, [&](const Group& world) {
    for (const auto& one : cases) tutti::matrix::run(world, one);
  });
}

TEST_P(Inproc, FibersInTurn) {
  const Rank size = GetParam();
  run_all(size, {.fibers = true}, {0, 1, size - 1, size, size + 1, 1000}, size);
}

TEST_P(Inproc, FibersBySeed) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_all(GetParam(), {.fibers = true, .seed = seed}, {1, 5}, 2);
  }
}

TEST_P(Inproc, WithoutBoard) {
  run_all(GetParam(), {.fibers = true, .seed = 7, .single_copy = false, .board = false}, {1, 7}, 2);
}

/// Ranks dealt over hosts of unequal size in any order.
std::vector<Rank> dealt(Rank size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Rank> hosts;
  for (Rank rank = 0, known = 0; rank < size; ++rank) {
    hosts.push_back(static_cast<Rank>(random() % static_cast<std::uint64_t>(known + 1)));
    known = std::max(known, hosts.back() + 1);
  }
  return hosts;
}

TEST_P(Inproc, OverHosts) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_all(GetParam(), {.fibers = true, .seed = seed, .single_copy = seed % 2 == 0, .hosts = dealt(GetParam(), seed)},
            {0, 1, 7}, 2);
  }
}

TEST_P(Inproc, Threads) { run_all(GetParam(), {}, {1, 300}, 1); }

INSTANTIATE_TEST_SUITE_P(Sizes, Inproc, ::testing::Values(1, 2, 3, 4, 5, 8));

}  // namespace
