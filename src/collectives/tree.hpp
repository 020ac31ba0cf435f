// SPDX-License-Identifier: BSD-3-Clause
// Trees over the ranks of a group, as one rank sees them.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tutti::collectives {

/// How far `rank` is behind `root`, around the group. A tree is laid over these positions.
inline Rank position(Rank rank, Rank root, Rank size) { return rank < root ? rank - root + size : rank - root; }

/// The rank at a position.
inline Rank rank_at(Rank position, Rank root, Rank size) {
  return position < size - root ? position + root : position + root - size;
}

/// A subtree: the rank at its top, and the positions [begin, end) it spans.
struct Branch {
  Rank rank = 0;
  Rank begin = 0;
  Rank end = 1;
  Rank size() const { return end - begin; }
};

/// One rank's place in a tree. Every subtree spans neighbouring positions, its top the first of them (not bine_tree's).
struct Tree {
  Rank root = 0;
  Rank parent = -1;  ///< Rank; -1 at the top.
  Branch here;
  std::vector<Branch> children;  ///< Largest and farthest subtree first.

  bool top() const { return parent < 0; }
  bool leaf() const { return children.empty(); }
};

/// Where a subtree's blocks lie in a buffer that holds one block a rank: the positions go around the end of the group
/// at most once, and then go on at rank 0.
struct Spread {
  plan::Slice ahead;   ///< From the subtree's top on.
  plan::Slice around;  ///< From rank 0 on; mostly empty.
};
Spread spread(plan::Slice whole, const Branch& branch, Rank size);

/// The binomial tree, or with radix k > 2 its relative with k - 1 children a level: a position's parent has the
/// lowest digit other than 0 (base k) cleared.
Tree binomial_tree(Rank rank, Rank root, Rank size, int radix = 2);

/// The binary tree: the positions behind the top are halved, the first half one longer where they are odd.
///     P = 6    0 -> 1, 4    1 -> 2, 3    4 -> 5
Tree binary_tree(Rank rank, Rank root, Rank size);

/// Everybody in one line, from the root on.
Tree chain(Rank rank, Rank root, Rank size);

}  // namespace tutti::collectives
