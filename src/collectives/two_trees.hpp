// SPDX-License-Identifier: BSD-3-Clause
// Two binary trees over the same nodes, of which each is a leaf in one of them at least.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "plan/plan.hpp"

namespace tutti::collectives {

/// A node's relatives in one tree. Nodes are numbered from 1; 0 stands above the top, which is its child.
struct Family {
  Rank parent = 0;
  std::vector<Rank> children;
};

/// The relatives of one node, or of 0, in both trees over nodes 1 ... nodes. In the first all odd nodes are leaves; the
/// second is its mirror image, or where that would have the same leaves, the first tree with all nodes moved on by one.
///     7 nodes    4 > 2, 6    2 > 1, 3    6 > 5, 7            5 > 3, 7    3 > 2, 4    7 > 6, 1
///     6 nodes    4 > 2, 6    2 > 1, 3    6 > 5               3 > 5, 1    5 > 6, 4    1 > 2
std::array<Family, 2> two_trees(Rank node, Rank nodes);

/// A segment of the data, and whether it goes along the first tree or the second.
struct HalfSegment {
  std::size_t tree;
  plan::Slice data;
};

/// Both halves of `data` in segments, in turn, so that both trees have something to do from the start.
std::vector<HalfSegment> half_segments(plan::Slice data, Count segment);

}  // namespace tutti::collectives
