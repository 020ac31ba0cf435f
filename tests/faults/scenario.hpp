// SPDX-License-Identifier: BSD-3-Clause
// What happens under one seed: which collectives run on which algorithms, who is struck, when and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "matrix/matrix.hpp"

namespace tutti::faults {

/// Which part of the library carries the data.
enum class Path { board, messages, single_copy };
/// What the ranks are doing when it happens.
enum class During { collectives, split, start };
/// Where the blow comes from.
enum class Blow { from_outside, between_start_and_wait, inside_reduction };

struct Scenario {
  explicit Scenario(std::uint64_t seed);

  std::uint64_t seed;
  Rank size;
  Kind kind;
  Path path;
  During during = During::collectives;
  Blow blow;
  Rank victim;
  std::uint64_t step;   ///< Own blows: how many chances pass before it.
  std::uint64_t delay;  ///< Microseconds before a blow from outside.
  bool obituary;        ///< The launcher tells of the death too, not only the lock.
  Rank lent;            ///< As matrix::Case has it.

  std::string text() const;
  /// All cases of the collective on that path: the ranks run them in an order that follows from the seed.
  std::vector<matrix::Case> cases() const;
  /// The same for all ranks.
  base::Random order() const { return base::Random(base::mix(seed)); }
};

/// The seeds of a test: `count` from `first` on, of which a slow build (under a sanitizer) takes every seventh.
/// TUTTI_BASE=n takes those n further on, TUTTI_SEED=n that one alone.
std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count);

/// The cases of any group of `size` with real results, for groups that must go on.
std::vector<matrix::Case> quick_cases(Rank size, bool board);

}  // namespace tutti::faults
