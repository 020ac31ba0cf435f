// SPDX-License-Identifier: BSD-3-Clause
// Pairs that stay near each other on a ring of ranks: at distances 1, 1, 3, 5, 11, 21 ..., a third shorter than powers
// of two, from side to side, so that nobody meets anybody twice. Short ways through tori and few ways between racks. De
// Sensi, Bonato, Saam, Hoefler, "Swing", NSDI 2024, arXiv 2401.09356; De Sensi et al., "Bine trees", arXiv 2508.17311.
//
//     8 positions    0   1   2   3   4   5   6   7
//     round 0        1   0   3   2   5   4   7   6
//     round 1        7   2   1   4   3   6   5   0
//     round 2        3   6   5   0   7   2   1   4
#pragma once

#include "collectives/tree.hpp"

namespace tutti::collectives {

/// Who a position meets in a round, of a power of two of positions around a ring.
Rank swing(Rank position, int round, Rank positions);

/// Of the two that meet in a round one is first. All that they meet in later rounds, and those in turn, are so too.
bool is_first(Rank position, int round, Rank positions);

/// The Bine tree: whoever has the data passes it on to whom it meets in the last round, then in the one before. Of
/// ranks that are no power of two, the first go in pairs: one of each hears it from the other. Its branches are no
/// ranges.
///     P = 8, root 0    0 > 3, 7, 1    3 > 4, 2    7 > 6    4 > 5
Tree bine_tree(Rank rank, Rank root, Rank size);

}  // namespace tutti::collectives
