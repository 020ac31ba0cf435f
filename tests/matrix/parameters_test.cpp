// SPDX-License-Identifier: BSD-3-Clause
// The matrix with parameters: short segments and several radices, inside one process and in real ones; and what an
// allreduce in groups promises beyond its contract: floating-point sums have the same bits on all ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "job/inproc.hpp"
#include "matrix.hpp"
#include "processes.hpp"

namespace {

using tutti::Count;
using tutti::Group;
using tutti::Rank;
using tutti::matrix::Case;
using tutti::matrix::Form;

constexpr tutti::collectives::Parameters tried[] = {{.segment = 3, .radix = 3}, {.segment = 8, .radix = 4}};

/// Of every algorithm, blocking and as a request.
std::vector<Case> cases(Rank size, const tutti::collectives::Parameters& parameters, bool board) {
  auto list = tutti::matrix::with(parameters, tutti::matrix::cases(size, {0, 1, 5 * size + 2}, 2, board, board));
  std::erase_if(list, [](const Case& one) { return one.form == Form::persistent; });
  return list;
}

class WithParameters : public ::testing::TestWithParam<Rank> {};

TEST_P(WithParameters, Fibers) {
  for (const auto& parameters : tried)
    for (const bool board : {true, false})
      tutti::job::run_inproc(GetParam(), {.fibers = true, .seed = 9, .single_copy = board, .board = board},
                             [&](const Group& world) {
                               for (const Case& one : cases(world.size(), parameters, board && world.size() > 1))
                                 tutti::matrix::run(world, one);
                             });
}

TEST_P(WithParameters, Processes) {
  const auto said = tutti::matrix::run_processes(GetParam(), {}, 200, [&](const Group& world) {
    for (const auto& parameters : tried)
      for (const Case& one : cases(world.size(), parameters, world.size() > 1)) tutti::matrix::run(world, one);
  });
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

INSTANTIATE_TEST_SUITE_P(Sizes, WithParameters, ::testing::Values(1, 2, 3, 5, 7, 9, 12));

/// Terms of which every order of additions makes another sum.
double term(Rank rank, Count element) { return std::sin(1.0 + 7.0 * rank + 3.0 * static_cast<double>(element)); }

TEST(SameBits, OnAllRanksWhateverTheRadix) {
  constexpr Count count = 40;
  for (const Rank size : {2, 3, 5, 6, 9, 13, 17})
    for (int radix = 2; radix <= size + 1; ++radix) {
      std::vector<std::vector<double>> results(static_cast<std::size_t>(size));
      tutti::job::run_inproc(size, {.fibers = true, .seed = 3, .single_copy = false, .board = false},
                             [&](const Group& world) {
                               std::vector<double> mine, sum(count);
                               for (Count i = 0; i < count; ++i) mine.push_back(term(world.rank(), i));
                               world.allreduce(std::span<const double>(mine), std::span(sum), tutti::sum,
                                               {.algorithm = "recursive_multiplying:radix=" + std::to_string(radix)});
                               results[static_cast<std::size_t>(world.rank())] = sum;
                             });
      for (const std::vector<double>& result : results)
        EXPECT_EQ(result, results[0]) << size << " ranks, radix " << radix;
    }
}

/// Or else the test above could not fail.
TEST(SameBits, DependOnTheOrder) {
  int differ = 0;
  for (Count i = 0; i < 40; ++i) {
    const double a = term(0, i), b = term(1, i), c = term(2, i);
    differ += (a + b) + c != a + (b + c) ? 1 : 0;
  }
  EXPECT_GT(differ, 0);
}

}  // namespace
