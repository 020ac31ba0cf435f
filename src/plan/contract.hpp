// SPDX-License-Identifier: BSD-3-Clause
// What a collective promises, as data: which contributions lie where before and after it.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tutti::plan {

/// One rank's contribution to a value: element i of a piece is that rank's element offset + i.
struct Contribution {
  Rank rank = 0;
  Count offset = 0;
  auto operator<=>(const Contribution&) const = default;
};

/// Contributions combined from left to right; one contribution is plain data.
using Value = std::vector<Contribution>;

/// A range of a buffer that holds one symbolic value per element.
struct Piece {
  Buffer buffer = Buffer::output;  ///< input or output
  Count offset = 0;
  Count count = 0;
  Value value;
};

/// What holds for one rank. Output elements that no `after` piece names must not be written.
struct Promise {
  Count input = 0;   ///< Elements of the input buffer (never written by a plan).
  Count output = 0;  ///< Elements of the output buffer.
  std::vector<Piece> before;
  std::vector<Piece> after;
};

/// What holds for all ranks, before and after the collective.
struct Contract {
  std::vector<Promise> ranks;
  bool commutative = true;    ///< Reductions may combine in any order; otherwise exactly in the order of each value.
  bool synchronizes = false;  ///< No rank is done before every rank has started.
};

}  // namespace tutti::plan
