// SPDX-License-Identifier: BSD-3-Clause
// Repeatable random numbers for tests, schedulers and fault injection: the seed is always printed by who uses it.
#pragma once

#include <cstdint>

#include "base/hash.hpp"

namespace tutti::base {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_++); }
  /// A number in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// True once in `n` on average.
  bool once_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tutti::base
