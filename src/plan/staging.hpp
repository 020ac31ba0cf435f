// SPDX-License-Identifier: BSD-3-Clause
// Plans for buffers whose elements do not lie side by side. A copy or a reduction reaches single elements; a message
// and memory that others read need a range of bytes. What those touch is moved to scratch, with copies before and
// after.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tutti::plan {

/// Which buffers are laid out, and where the output holds data before the plan runs.
struct Staging {
  bool input = false, output = false;
  std::vector<Slice> before = {};
};

/// The same plan, in which only copies and reductions touch the laid-out buffers. It does the same with the same
/// messages and cells, so that other ranks need not know.
Plan staged(const Plan& plan, const Staging& staging);

/// How many elements of a buffer, from its first on, a plan knows; whether it writes any.
Count reach(const Plan& plan, Buffer buffer);
bool writes(const Plan& plan, Buffer buffer);

}  // namespace tutti::plan
