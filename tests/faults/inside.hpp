// SPDX-License-Identifier: BSD-3-Clause
// What a rank of these tests says and does inside its process, where GoogleTest's macros do not reach.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "tutti/tutti.hpp"

namespace tutti::faults {

inline void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("not as expected: " + what);
}

inline double sum(const Group& group, double mine) {
  double all = 0;
  group.allreduce(std::span(&mine, 1), std::span(&all, 1), tutti::sum);
  return all;
}

}  // namespace tutti::faults
