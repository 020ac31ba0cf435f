// SPDX-License-Identifier: BSD-3-Clause
// Why a call is served by the algorithm it is served by, and what would change that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune/source.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

struct Question {
  Kind kind = Kind::barrier;
  Count bytes = 0;  ///< Of one rank's block.
  Rank ranks = 2;
  bool single_copy = true;
  bool commutative = true;
};

/// What would change the choice, and what it would be then.
struct Change {
  std::string when;
  std::string algorithm;
};

struct Explanation {
  Question question;
  std::string algorithm, sentence;
  std::string line;    ///< Of the table.
  std::string origin;  ///< Whose line that is: "TUTTI_ALGORITHMS", a file, "standard".
  std::string why;     ///< Why that table is used.
  std::string trouble;
  const Point* measured = nullptr;  ///< The nearest point that was measured; points into the measurements.
  std::string date;                 ///< When.
  const Candidate* chosen = nullptr;
  const Candidate* runner_up = nullptr;  ///< The fastest of the others.
  std::vector<Change> changes;
  std::string advice;  ///< How to measure, or what is between here and there.

  std::string text() const;
  std::string json() const;
};

/// `overrides`: as TUTTI_ALGORITHMS. `measurements` stay as long as the explanation; nullptr when there are none.
/// Throws Error (usage) for a question that no table answers.
Explanation explain(const Question& question, const std::string& overrides, const tune::Source& source,
                    const Measurements* measurements);

}  // namespace tutti::tuner
