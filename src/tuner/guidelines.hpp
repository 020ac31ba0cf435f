// SPDX-License-Identifier: BSD-3-Clause
// Guidelines: what must not be slower than what (Träff, Gropp, Thakur 2010, doi 10.1109/TPDS.2009.120). A collective is
// compared with others that give the same result, and with itself at other sizes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/source.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

/// Which size a part of the other side has, for blocks of m bytes on P ranks.
enum class Size : std::uint8_t { same, times_ranks, over_ranks };

struct Term {
  Kind kind = Kind::barrier;
  Size size = Size::same;
};

/// left(m) <= right(m) + right(m) ...
struct Guideline {
  Kind left;
  std::vector<Term> right;
  bool combining = false;  ///< And the time to combine two blocks.

  std::string text() const;  ///< "allreduce(m) <= reduce(m) + bcast(m)"
};

/// Beside these, every collective must be monotonous: no larger block, and no larger group, is served faster.
std::span<const Guideline> guidelines();
inline constexpr std::string_view larger_block = "a larger block is not served faster",
                                  larger_group = "a larger group is not served faster";

/// A guideline that the measurements break by more than their noise.
struct Violation {
  std::string rule;  ///< "allreduce(m) <= reduce(m) + bcast(m)"
  Rank ranks = 1;
  Part left;
  std::vector<Part> right;               ///< On as many ranks, but for a larger group.
  double left_time = 0, right_time = 0;  ///< Nanoseconds.
  bool measured = false;                 ///< Both sides in turns; otherwise the right side is a sum of single times.
  std::string repair;                    ///< How it was repaired; empty: nothing faster was measured.
  bool overruled = false;                ///< Something faster was, but one choice serves all sizes.

  std::string text() const;
  bool same(const Violation& other) const {
    return rule == other.rule && ranks == other.ranks && left.kind == other.left.kind && left.bytes == other.left.bytes;
  }
};

/// Both sides as these lines of a table choose, and the machine's standard table behind them: what the measurements say
/// about each of them. Where both were measured in turns, that decides.
std::vector<Violation> check(const Measurements& measurements, const tune::Machine& machine, std::string_view lines);

struct Repaired {
  std::string lines;
  std::vector<Violation> violations;  ///< Of the table before; those without repair hold still.
};
/// Derives a table, checks it, and chooses the fastest wherever a guideline is broken because something else was chosen
/// (the same for all sizes, or for neighbours).
Repaired derive_and_repair(const Measurements& measurements, const tune::Machine& machine);

}  // namespace tutti::tuner
