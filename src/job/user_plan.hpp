// SPDX-License-Identifier: BSD-3-Clause
// What a tutti::Plan points to.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace tutti::job {

struct UserPlan {
  std::string name;
  Count in = 0, out = 0;
  bool reduces = false;
  std::uint64_t id = 0;  ///< Never the same twice in a process: what a cache knows it by.
  plan::Plan plan;
};

}  // namespace tutti::job
