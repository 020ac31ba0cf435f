// SPDX-License-Identifier: BSD-3-Clause
// Algorithms on the board with more data than its rings hold, on real memory, under seeded interleavings.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "job/inproc.hpp"
#include "matrix.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

class MatrixBoard : public ::testing::TestWithParam<Rank> {};

void run_board(Rank size, const tutti::job::InprocOptions& options, tutti::Count count,
               std::optional<tutti::Kind> only = {}) {
  auto cases = tutti::matrix::cases(size, {count}, 2, true, options.single_copy, only);
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

/// Blocks so large that two ranks take them in pieces: more than 2^17 elements, whoever is the root.
TEST(MatrixBoardLarge, GathervOfTwo) {
  constexpr tutti::Count most = 300002;
  for (const auto& one : tutti::matrix::cases(2, {most}, 2, true, true, tutti::Kind::gatherv))
    ASSERT_GT(std::ranges::min(one.problem.counts), 131072);
  for (const std::uint64_t seed : {7, 8}) run_board(2, {.fibers = true, .seed = seed}, most, tutti::Kind::gatherv);
  run_board(2, {}, most, tutti::Kind::gatherv);
}

/// More ranks than a ring has cells.
TEST(MatrixBoardWide, ManyRanks) { run_board(19, {.fibers = true, .seed = 6}, 12); }

}  // namespace
