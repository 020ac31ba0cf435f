// SPDX-License-Identifier: BSD-3-Clause
// The life of one rank of a group in which some die, by seed: it works, agrees, shrinks, and works on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tutti/group.hpp"

namespace tutti::faults {

/// What happens under one seed; the same on all ranks.
struct Fate {
  /// In which call a rank dies, or a little later.
  enum class During { work, agree, shrink };
  struct Death {
    Rank rank;
    During during;
    std::uint64_t calls;  ///< That it gets through before.
    std::uint64_t delay;  ///< Microseconds from the beginning of that call.
  };

  /// Of a group of that size: one to `most` deaths, and one survivor at least.
  Fate(std::uint64_t seed, Rank size, int most = 3);
  std::string text() const;

  std::uint64_t seed;
  std::vector<Death> deaths;
};

/// Runs it. `say` is told what was decided, line by line: the same on all ranks. Throws what must not be. Returns the
/// longest time of a shrink, in nanoseconds.
std::uint64_t live(const Group& world, const Fate& fate, const std::function<void(const std::string&)>& say);

}  // namespace tutti::faults
