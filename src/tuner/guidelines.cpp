// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/guidelines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "tune/table.hpp"
#include "tuner/candidates.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {

using tune::Table;

namespace {

/// Beyond the spread of both sides, so much is still taken for noise.
constexpr double noise = 1.05;

const std::vector<Guideline>& all() {
  using enum Kind;
  static const std::vector<Guideline> list{
      {allreduce, {{reduce}, {bcast}}},
      {allreduce, {{reduce_scatter_block, Size::over_ranks}, {allgather, Size::over_ranks}}},
      {reduce, {{allreduce}}},
      {reduce, {{reduce_scatter_block, Size::over_ranks}, {gather, Size::over_ranks}}},
      {bcast, {{scatter, Size::over_ranks}, {allgather, Size::over_ranks}}},
      {bcast, {{allgather}}},
      {gather, {{allgather}}},
      {gather, {{reduce, Size::times_ranks}}},
      {gather, {{gatherv}}},
      {scatter, {{bcast, Size::times_ranks}}},
      {scatter, {{scatterv}}},
      {allgather, {{gather}, {bcast, Size::times_ranks}}},
      {allgather, {{alltoall}}},
      {allgather, {{allreduce, Size::times_ranks}}},
      {allgather, {{allgatherv}}},
      {alltoall, {{alltoallv}}},
      {alltoall, {{allgather, Size::times_ranks}}},
      {reduce_scatter_block, {{reduce, Size::times_ranks}, {scatter}}},
      {reduce_scatter_block, {{allreduce, Size::times_ranks}}},
      {reduce_scatter_block, {{reduce_scatter}}},
      {scan, {{exscan}}, true},
      {barrier, {{allreduce}}},
  };
  return list;
}

/// The time of a side: what was measured for what the table chooses.
struct Side {
  double time = 0;
  Interval spread;
  std::string details;

  void add(const Side& other) {
    time += other.time;
    spread.low += other.spread.low;
    spread.high += other.spread.high;
    details += (details.empty() ? "" : " + ") + other.details;
  }
};

std::string microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", nanoseconds / 1e3);
  return text;
}

std::string where(Kind kind, Count bytes, const std::string& algorithm) {
  return std::string(collectives::get(kind).name) + " of " + std::to_string(bytes) + " bytes by " + algorithm;
}

class Check {
 public:
  Check(const Measurements& measurements, std::string_view lines)
      : measurements_(measurements),
        single_copy_(!measurements.machine.ends_with("no single copy")),
        table_(Table::parse(std::string(lines) + Table::standard())) {}

  std::vector<Violation> run() {
    for (const Point& point : measurements_.points) {
      if (point.best() == nullptr) continue;
      for (const Guideline& guideline : all())
        if (guideline.left == point.kind) compare(point, guideline.text(), right_side(point, guideline), "");
      compare_with_larger(point);
      compare_with_more_ranks(point);
    }
    return std::move(found_);
  }

 private:
  std::optional<Side> side(const Point& point) const {
    const CallShape shape(point.kind, point.ranks, point.bytes);
    const std::string name = tune::text_of(table_.choose(shape.of(0), point.kind, shape.table_bytes(), single_copy_));
    const Candidate* candidate = point.find(name);
    if (candidate == nullptr) return std::nullopt;
    return Side{candidate->time(), candidate->spread(), where(point.kind, point.bytes, name)};
  }

  /// The smallest measured size that is not below: its time is an upper limit, so no guideline is broken by mistake.
  std::optional<Side> side(Kind kind, Rank ranks, Count bytes) const {
    for (const Point* point : measurements_.row(kind, ranks))
      if (point->bytes >= bytes) return side(*point);
    return std::nullopt;
  }

  std::optional<Side> right_side(const Point& point, const Guideline& guideline) const {
    Side sum;
    for (const Term& term : guideline.right) {
      const Count bytes = term.size == Size::times_ranks  ? point.bytes * point.ranks
                          : term.size == Size::over_ranks ? (point.bytes + point.ranks - 1) / point.ranks
                                                          : point.bytes;
      const std::optional<Side> one = side(term.kind, point.ranks, bytes);
      if (!one) return std::nullopt;
      sum.add(*one);
    }
    if (!guideline.combining) return sum;
    const auto combining = std::ranges::find(measurements_.combining, point.bytes, &Combining::bytes);
    if (combining == measurements_.combining.end()) return std::nullopt;
    sum.add({combining->time, {combining->time, combining->time}, "combining"});
    return sum;
  }

  void compare_with_larger(const Point& point) {
    for (const Point* larger : measurements_.row(point.kind, point.ranks))
      if (larger->bytes > point.bytes)
        compare(point, "a larger block is not served faster", side(*larger),
                "padding to " + std::to_string(larger->bytes) + " bytes is faster");
  }

  void compare_with_more_ranks(const Point& point) {
    for (const Rank ranks : measurements_.ranks(point.kind))
      if (ranks > point.ranks)
        if (const Point* more = measurements_.at(point.kind, ranks, point.bytes))
          compare(point, "a larger group is not served faster", with_ranks(side(*more), ranks), "");
  }

  static std::optional<Side> with_ranks(std::optional<Side> side, Rank ranks) {
    if (side) side->details += " on " + std::to_string(ranks) + " ranks";
    return side;
  }

  void compare(const Point& point, const std::string& rule, const std::optional<Side>& right,
               const std::string& advice) {
    const std::optional<Side> left = side(point);
    if (!left || !right) return;
    if (left->spread.low <= right->spread.high || left->time <= noise * right->time) return;
    const auto same = [&](const Violation& known) {
      return known.rule == rule && known.kind == point.kind && known.ranks == point.ranks && known.bytes == point.bytes;
    };
    if (std::ranges::any_of(found_, same)) return;  // the nearest larger size says it
    found_.push_back({rule, point.kind, point.ranks, point.bytes, left->time, right->time,
                      left->details + " against " + right->details, "", advice});
  }

  const Measurements& measurements_;
  bool single_copy_;
  Table table_;
  std::vector<Violation> found_;
};

}  // namespace

std::span<const Guideline> guidelines() { return all(); }

std::string Guideline::text() const {
  constexpr std::array<std::string_view, 3> sizes{"(m)", "(P m)", "(m / P)"};
  std::string text = std::string(collectives::get(left).name) + "(m) <= ";
  for (const Term& term : right)
    text += (&term == &right.front() ? "" : " + ") + std::string(collectives::get(term.kind).name) +
            std::string(sizes[static_cast<std::size_t>(term.size)]);
  return text + (combining ? " + combining(m)" : "");
}

std::string Violation::text() const {
  return rule + ", on " + std::to_string(ranks) + " ranks: " + microseconds(left) + " against " + microseconds(right) +
         " (" + details + "); " +
         (!repair.empty()   ? "repaired: " + repair
          : !advice.empty() ? "not repaired: nothing faster was measured; " + advice
                            : "not repaired: nothing faster was measured");
}

std::vector<Violation> check(const Measurements& measurements, std::string_view lines) {
  return Check(measurements, lines).run();
}

Repaired derive_and_repair(const Measurements& measurements) {
  Repaired result{derive(measurements), {}};
  result.violations = check(measurements, result.lines);
  Pins pins;
  for (const Violation& violation : result.violations) {
    const Point& point = *measurements.at(violation.kind, violation.ranks, violation.bytes);
    if (point.best()->time() < violation.left)
      pins[{violation.kind, violation.ranks, violation.bytes}] = point.best()->algorithm;
  }
  if (pins.empty()) return result;
  result.lines = derive(measurements, pins);
  const std::vector<Violation> left = check(measurements, result.lines);
  for (Violation& violation : result.violations) {
    const auto same = [&](const Violation& other) {
      return other.rule == violation.rule && other.kind == violation.kind && other.ranks == violation.ranks &&
             other.bytes == violation.bytes;
    };
    if (std::ranges::any_of(left, same)) continue;
    const auto pin = pins.find({violation.kind, violation.ranks, violation.bytes});
    violation.repair = pin == pins.end() ? "by what was chosen elsewhere" : pin->second + " was chosen";
  }
  return result;
}

}  // namespace tutti::tuner
