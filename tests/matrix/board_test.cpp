// SPDX-License-Identifier: BSD-3-Clause
// Algorithms on the board with more data than its rings hold, on real memory, under seeded interleavings.
#include <gtest/gtest.h>

#include <algorithm>

#include "job/inproc.hpp"
#include "matrix.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

class MatrixBoard : public ::testing::TestWithParam<Rank> {};

void run_board(Rank size, const tutti::job::InprocOptions& options, tutti::Count count) {
  auto cases = tutti::matrix::cases(size, {count}, 2, true, options.single_copy);
  std::erase_if(cases, [](const auto& one) { return !one.algorithm->needs.board; });
  ASSERT_FALSE(cases.empty());
  tutti::job::run_inproc(size, options, [&](const Group& world) {
    for (const auto& one : cases) tutti::matrix::run(world, one);
  });
}

TEST_P(MatrixBoard, RingsWrap) {
  for (const std::uint64_t seed : {4, 5}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_board(GetParam(), {.fibers = true, .seed = seed}, 30000);
  }
}

TEST_P(MatrixBoard, RingsWrapOnThreads) { run_board(GetParam(), {}, 30000); }

INSTANTIATE_TEST_SUITE_P(Sizes, MatrixBoard, ::testing::Values(2, 3));

/// More ranks than a ring has cells.
TEST(MatrixBoardWide, ManyRanks) { run_board(19, {.fibers = true, .seed = 6}, 12); }

}  // namespace
