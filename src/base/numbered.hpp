// SPDX-License-Identifier: BSD-3-Clause
// Numbers instead of names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <type_traits>
#include <vector>

namespace tutti::base {

/// Numbers things in the order in which their names come first: 7, 3, 7, 5 are 0, 1, 0, 2.
template <class Things, class Name = std::identity>
std::vector<std::int32_t> numbered(const Things& things, Name name = {}) {
  std::map<std::decay_t<decltype(name(*std::begin(things)))>, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  for (const auto& thing : things)
    numbers.push_back(known.try_emplace(name(thing), static_cast<std::int32_t>(known.size())).first->second);
  return numbers;
}

}  // namespace tutti::base
