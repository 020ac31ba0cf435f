// SPDX-License-Identifier: BSD-3-Clause
// Reductions along a tree: what the trees and the chain share.
#pragma once

#include "collectives/algorithm.hpp"

namespace tutti::collectives::reduce {

/// The root of the tree. A subtree's positions are combined in their order, which is that of the ranks only when the
/// tree starts at rank 0; operations that commute start at the root itself.
inline Rank start(const Shape& shape) { return shape.commutative ? shape.root : 0; }

/// Combines `mine` and what the children bring in `sum`, in the order of positions: the nearest child first.
/// The result is there after the returned step. A leaf may combine in place: sum = mine.
Handle combine(Writer& b, const Tree& tree, Slice mine, Slice sum);

/// Reduces everybody's part of the data to `result`, a range of the root's output.
void along(Writer& b, const Shape& shape, const Tree& tree, Slice result);

}  // namespace tutti::collectives::reduce
