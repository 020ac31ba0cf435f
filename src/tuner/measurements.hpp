// SPDX-License-Identifier: BSD-3-Clause
// What `tutti tune` has measured: every candidate at every point, with the time of every round.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tutti/call.hpp"

namespace tutti::tuner {

struct Interval {
  double low = 0, high = 0;
};

double median(std::vector<double> values);
/// Holds the median with a confidence of 95 %, by order statistics; from fewer than 6 values, all of them.
Interval interval(std::vector<double> values);
/// "12.5 us".
std::string microseconds(double nanoseconds);

/// An algorithm with its parameters, at one point.
struct Candidate {
  std::string algorithm;          ///< As in a table: "chain:segment=4096".
  std::vector<std::string> same;  ///< What has the very same plans here.
  std::vector<double> times;      ///< Nanoseconds of a call (run time / calls, of the slowest rank), by round.
  bool dropped = false;           ///< Was so slow that it was not measured to the end.

  double time() const { return median(times); }
  Interval spread() const { return interval(times); }
  bool operator==(const Candidate&) const = default;
};

struct Point {
  Kind kind = Kind::barrier;
  Rank ranks = 1;
  Count bytes = 0;  ///< Of one rank's block, as in a table.
  std::vector<Candidate> candidates;

  /// The fastest one that was measured and not dropped; nullptr when there is none.
  const Candidate* best() const;
  /// Often enough to choose by it.
  bool settled() const;
  /// By its name, or by that of another one with the same plans; nullptr when it was not measured.
  const Candidate* find(std::string_view algorithm) const;
  bool operator==(const Point&) const = default;
};

/// How long one rank alone takes to combine two runs of elements.
struct Combining {
  Count bytes = 0;
  double time = 0;
  bool operator==(const Combining&) const = default;
};

/// A call of a collective of so many bytes by an algorithm.
struct Part {
  Kind kind = Kind::barrier;
  Count bytes = 0;
  std::string algorithm;
  bool operator==(const Part&) const = default;
};

/// Two ways to the same result, measured in turns: a call, and the calls that could stand for it, one after the other.
/// (Calls that do not wait for each other overlap in a loop; the sum of their own times says too little.)
struct Duel {
  Rank ranks = 1;
  std::vector<Part> left, right;
  std::vector<double> left_times, right_times;  ///< Nanoseconds, by round.
  bool operator==(const Duel&) const = default;
};

struct Measurements {
  std::string machine;               ///< tune::Machine::text
  std::string date, version;         ///< Of the last run that added to them.
  std::vector<std::string> remarks;  ///< How ranks waited, what else ran.
  std::vector<Point> points;
  std::vector<Combining> combining;
  std::vector<Duel> duels;

  /// nullptr when nothing was measured there.
  const Point* at(Kind kind, Rank ranks, Count bytes) const;
  /// All settled points of a collective on so many ranks, by bytes.
  std::vector<const Point*> row(Kind kind, Rank ranks) const;
  /// The numbers of ranks that a collective was measured on.
  std::vector<Rank> ranks(Kind kind) const;
  /// Takes over the points that are settled; older ones of the same collective, ranks and bytes are given up, and duels
  /// of which all parts were measured anew.
  void add(const Measurements& newer);
  bool operator==(const Measurements&) const = default;
};

/// Gives up candidates and duels of algorithms that there are none of in this version of Tutti, and points that are
/// left without a candidate. The collectives of which that was so.
std::vector<Kind> drop_unknown(Measurements& measurements);

std::string to_json(const Measurements& measurements);
/// Throws Error (usage) for a text that is none.
Measurements from_json(std::string_view text);

}  // namespace tutti::tuner
