// SPDX-License-Identifier: BSD-3-Clause
// Small changes to a plan, each of which should make it wrong.
#pragma once

#include <string>
#include <vector>

#include "plan/contract.hpp"
#include "plan/plan.hpp"

namespace tutti::plan {

/// One change to one step of one rank.
struct Mutation {
  enum class Change : std::uint8_t {
    remove,    ///< the step is gone; what came after it comes after what it came after
    unlink,    ///< one edge is gone
    twice,     ///< the step happens twice: a reduction counts a contribution twice
    offset,    ///< of source or target, by `by`
    count,     ///< of the step, by `by`
    peer,      ///< of the step, or the owner of source or target, by `by` around the group
    cell,      ///< of the step, or of source or target, by `by`
    message,   ///< its number, by `by`
    side,      ///< left for right
    expected,  ///< of an await, by `by`
  };
  enum class Operand : std::uint8_t { step, source, target };

  Change change = Change::remove;
  Operand operand = Operand::step;
  Rank rank = 0;
  Index step = 0;
  int by = 0;  ///< unlink: which of the step's edges
};

/// All mutations of one rank's plan. A change that changes nothing is none: the offset of an empty slice, the side of a
/// reduction that commutes, a cell or owner where there is but one.
std::vector<Mutation> mutations(const Plan& plan, const Contract& contract);

/// Makes the change. A message that happens twice does so at both ends.
void perform(const Mutation& mutation, std::vector<Plan>& plans);

/// "rank 2 s3 (send …): peer + 1", with the step as it is before the change.
std::string describe(const Mutation& mutation, const std::vector<Plan>& plans);

}  // namespace tutti::plan
