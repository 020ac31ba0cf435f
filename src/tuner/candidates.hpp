// SPDX-License-Identifier: BSD-3-Clause
// What is measured: the points, and at each every algorithm that can be used there, with a few values of the parameters
// that make a difference.
#pragma once

#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

/// Elements are doubles.
inline constexpr Count element = 8;

/// What a call of one collective reads and writes, in blocks.
struct Form {
  Kind kind;
  bool all_input, all_output;  ///< One block of each rank instead of one.
};
/// What can be measured: collectives whose ranks have a block each; those along the edges of a graph are not.
std::span<const Form> forms();
/// nullptr for what cannot be measured.
const Form* form_of(Kind kind);

/// A shape of such a call, which owns its counts.
class CallShape {
 public:
  CallShape(Kind kind, Rank ranks, Count bytes);
  collectives::Shape of(Rank rank) const;
  const std::vector<Count>& counts() const { return counts_; }
  Count count() const { return count_; }
  /// What a table has for its bytes: 0 where ranks do not know each other's counts.
  Count table_bytes() const;

 private:
  Kind kind_;
  Rank ranks_;
  Count count_;
  std::vector<Count> counts_;  // v-forms: one a rank, all equal
  std::vector<Count> offsets_;
};

/// The candidates at a point, without times: every algorithm of the registry that applies, its parameters' own values
/// first. Which parameters an algorithm has is not asked: a value that changes no rank's plan is no candidate.
Point candidates_at(Kind kind, Rank ranks, Count bytes, bool single_copy);

}  // namespace tutti::tuner
