// SPDX-License-Identifier: BSD-3-Clause
// What rabenseifner and swing share: pairs combine halves of halves, then exchange results the same way back.
#pragma once

#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {

/// Whom a position of the team meets in a round, and whether it combines the first half of what both have.
struct Meeting {
  Rank other;
  bool first;
};

/// `meet`: for every round, of `positions`, a power of two. All that a position meets in later rounds, and those in
/// turn, combine the same half as it does.
plan::Plan halving(const Shape& shape, Meeting (*meet)(Rank position, int round, Rank positions));

}  // namespace tutti::collectives::allreduce
