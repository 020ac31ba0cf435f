// SPDX-License-Identifier: BSD-3-Clause
// The matrix in real processes over shared memory.
#include <gtest/gtest.h>

#include <chrono>

#include "job/runtime.hpp"
#include "matrix.hpp"
#include "processes.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

class Shm : public ::testing::TestWithParam<Rank> {};

/// World, dup and split halves: the same cases on groups of three kinds.
void all_groups(const Group& world, const std::vector<tutti::Count>& counts, int roots, bool single_copy) {
  const auto half = world.split(world.rank() % 2, -world.rank());
  const auto dup = world.dup();
  for (const Group& group : {world, dup, half}) {
    const auto hosts = group.member()->hosts();
    for (const auto& one : tutti::matrix::cases(group.size(), counts, roots, group.size() > 1, single_copy, {}, hosts))
      tutti::matrix::run(group, one);
  }
}

void expect_all_well(const std::vector<std::string>& said) {
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

TEST_P(Shm, EveryCase) {
  const Rank size = GetParam();
  expect_all_well(tutti::matrix::run_processes(size, {}, 200, [&](const Group& world) {
    all_groups(world, {0, 1, size - 1, size + 1, 1000}, size <= 5 ? size : 2, true);
  }));
}

TEST_P(Shm, WithoutSingleCopy) {
  expect_all_well(tutti::matrix::run_processes(GetParam(), {.single_copy = false}, 200, [&](const Group& world) {
    all_groups(world, {1, 3000}, 1, false);
  }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Shm, ::testing::Values(1, 2, 3, 4, 5, 7, 8, 13));

class Lent : public ::testing::TestWithParam<Rank> {};

/// What goes through areas stays where it is, and what is exposed is read there, if its owner lends it: all do, or
/// every other one.
TEST_P(Lent, EveryCaseOnTheBoard) {
  const Rank size = GetParam();
  expect_all_well(tutti::matrix::run_processes(size, {}, 200, [&](const Group& world) {
    auto cases = tutti::matrix::cases(size, {size > 4 ? 9001 : 30001}, 1, true, true);
    std::erase_if(cases, [](const auto& one) { return !one.algorithm->needs.board; });
    for (const Rank every : {1, 2})
      for (const auto& one : tutti::matrix::lent(cases, every)) tutti::matrix::run(world, one);
  }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Lent, ::testing::Values(2, 3, 5, 8));

/// Every other rank shares a host with the first, the rest are by twos on others: all is said by cells, by shared
/// memory or by TCP.
TEST(OverHosts, EveryCase) {
  for (const Rank size : {2, 5, 8}) {
    std::vector<Rank> hosts;
    for (Rank rank = 0; rank < size; ++rank) hosts.push_back(rank % 2 == 0 ? 0 : 1 + rank / 4);
    SCOPED_TRACE(size);
    expect_all_well(tutti::matrix::run_processes(size, {.hosts = hosts}, 200, [&](const Group& world) {
      all_groups(world, {0, 3000}, 1, true);
    }));
  }
}

}  // namespace
