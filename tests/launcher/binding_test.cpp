// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/binding.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/topology.hpp"

namespace tutti::launcher {
namespace {

using List = std::vector<int>;

// Two packages of two cores of two threads. The system counts as most do: one thread of every core first, packages by
// turns: package 0 has the cores {0, 4} and {2, 6}, package 1 has {1, 5} and {3, 7}.
const std::string machine = "pack:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)";
const List all{0, 1, 2, 3, 4, 5, 6, 7};

TEST(Binding, CoresBeforeThreadsAndNeighboursTogether) {
  EXPECT_EQ(binding_order(all, machine), (List{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Binding, KeepsToWhatIsAllowed) {
  EXPECT_EQ(binding_order({1, 5, 6, 7}, machine), (List{6, 1, 7, 5}));
  EXPECT_EQ(binding_order({4}, machine), (List{4}));
}

TEST(Binding, UsesWhatTheTopologyDoesNotShow) { EXPECT_EQ(binding_order({0, 2, 99}, machine), (List{0, 2, 99})); }

TEST(Binding, RanksTakeProcessorsInOrderAndShareWhenThereAreFew) {
  const List order{6, 1, 7, 5};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(processor_of(order, rank, 4), order[static_cast<std::size_t>(rank)]);
  EXPECT_EQ(processor_of(order, 1, 2), 1);
  List taken;
  for (int rank = 0; rank < 8; ++rank) taken.push_back(processor_of(order, rank, 8));
  EXPECT_EQ(taken, (List{6, 6, 1, 1, 7, 7, 5, 5}));
}

TEST(Binding, KnowsThisMachine) {
  List allowed = host::usable_cores().list, order = binding_order(allowed);
  std::ranges::sort(order);
  std::ranges::sort(allowed);
  EXPECT_EQ(order, allowed);
}

}  // namespace
}  // namespace tutti::launcher
