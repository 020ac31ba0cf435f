// SPDX-License-Identifier: BSD-3-Clause
// What the environment says.
#pragma once

#include <cstdlib>
#include <string>

namespace tutti::base {

/// The value of a variable; empty when it is not set, which means the same.
inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace tutti::base
