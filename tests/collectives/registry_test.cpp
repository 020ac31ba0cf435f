// SPDX-License-Identifier: BSD-3-Clause
// The tables: in order, complete, and findable by name.
#include <gtest/gtest.h>

#include <set>

#include "collectives/collective.hpp"

namespace tutti::collectives {
namespace {

TEST(Registry, CollectivesStandInTheOrderOfKinds) {
  ASSERT_EQ(all().size(), static_cast<std::size_t>(kinds));
  for (int kind = 0; kind < kinds; ++kind) {
    const Collective& collective = all()[static_cast<std::size_t>(kind)];
    EXPECT_EQ(static_cast<int>(collective.kind), kind);
    EXPECT_EQ(find(name_of(collective.kind)), &collective);
    EXPECT_EQ(&get(collective.kind), &collective);
    EXPECT_TRUE(collective.sentence.ends_with("."));
  }
  EXPECT_EQ(find("allscatter"), nullptr);
}

TEST(Registry, AlgorithmsAreFoundByName) {
  std::set<std::pair<Kind, std::string_view>> names;
  for (const Algorithm& algorithm : algorithms()) {
    EXPECT_EQ(find(algorithm.kind, algorithm.name), &algorithm);
    EXPECT_TRUE(names.emplace(algorithm.kind, algorithm.name).second) << algorithm.name << " is registered twice";
    EXPECT_TRUE(algorithm.sentence.ends_with(".")) << algorithm.name;
  }
  EXPECT_EQ(find(Kind::bcast, "dissemination"), nullptr);
}

TEST(Registry, NeedsDecideWhatApplies) {
  const Shape shape{.size = 6, .count = 8, .commutative = false, .cell = {.small = 8}};
  Algorithm algorithm{Kind::allreduce, "test", "Test.", {}, nullptr};
  const auto with = [&](Needs needs, const Shape& where, bool single_copy = false) {
    algorithm.needs = needs;
    return applies(algorithm, where, single_copy);
  };
  EXPECT_TRUE(with({}, shape));
  EXPECT_TRUE(with({.board = true, .fits_small = true}, shape));
  EXPECT_FALSE(with({.board = true}, {.size = 6}));
  EXPECT_FALSE(with({.fits_small = true}, {.size = 6, .count = 9, .cell = {.small = 8}}));
  EXPECT_FALSE(with({.commutative = true}, shape));
  EXPECT_FALSE(with({.power_of_two = true}, shape));
  EXPECT_TRUE(with({.power_of_two = true}, {.size = 8}));
  EXPECT_FALSE(with({.single_copy = true}, shape));
  EXPECT_TRUE(with({.single_copy = true}, shape, true));
}

TEST(Registry, OwnCountsNeverFitACell) {
  const Count counts[] = {3, 9};
  Algorithm algorithm{Kind::allgatherv, "test", "Test.", {.fits_small = true}, nullptr};
  Shape shape{.size = 2, .cell = {.small = 8}};
  shape.recv_counts = counts;
  EXPECT_FALSE(applies(algorithm, shape, false));
  shape.cell.small = 9;
  EXPECT_TRUE(applies(algorithm, shape, false));
  EXPECT_FALSE(applies(algorithm, {.size = 2, .cell = {.small = 9}}, false));
  algorithm.kind = Kind::gatherv;
  EXPECT_FALSE(applies(algorithm, shape, false));
}

}  // namespace
}  // namespace tutti::collectives
