// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/guidelines.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/words.hpp"
#include "tuner/candidates.hpp"
#include "tuner/derive.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {

using tune::Table;

namespace {

/// Beyond the spread of both sides, so much is still taken for noise.
constexpr double noise = 1.05;

const std::vector<Guideline>& table() {
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
  std::vector<Part> parts;
  double time = 0;
  Interval spread;
  double combining = 0;  ///< Part of it.

  void add(const Side& other) {
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
    time += other.time;
    spread.low += other.spread.low;
    spread.high += other.spread.high;
  }
};

bool slower(double left, Interval left_spread, double right, Interval right_spread) {
  return left_spread.low > right_spread.high && left > noise * right;
}

std::string text_of(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    base::add_word(
        text, std::string(name_of(part.kind)) + " of " + std::to_string(part.bytes) + " bytes by " + part.algorithm,
        " + ");
  return text;
}

class Check {
 public:
  Check(const Measurements& measurements, const tune::Machine& machine, std::string_view lines)
      : measurements_(measurements),
        single_copy_(machine.single_copy),
        table_(Table::parse(std::string(lines) + Table::standard(machine.conditions()))) {}

  std::vector<Violation> run() {
    for (const Point& point : measurements_.points) {
      if (!point.settled()) continue;
      for (const Guideline& guideline : table())
        if (guideline.left == point.kind) compare(point, guideline.text(), right_side(point, guideline));
      for (const Point* larger : measurements_.row(point.kind, point.ranks))
        if (larger->bytes > point.bytes) compare(point, std::string(larger_block), side(*larger));
      for (const Rank ranks : measurements_.ranks(point.kind))
        if (const Point* more = measurements_.at(point.kind, ranks, point.bytes);
            more != nullptr && ranks > point.ranks)
          compare(point, std::string(larger_group), side(*more));
    }
    return std::move(found_);
  }

 private:
  std::optional<Side> side(const Point& point) const {
    const CallShape shape(point.kind, point.ranks, point.bytes);
    const std::string name = tune::text_of(table_.choose(shape.of(0), point.kind, shape.table_bytes(), single_copy_));
    const Candidate* candidate = point.find(name);
    if (candidate == nullptr) return std::nullopt;
    return Side{{{point.kind, point.bytes, name}}, candidate->time(), candidate->spread()};
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
    sum.time += sum.combining = combining->time;
    sum.spread = {sum.spread.low + combining->time, sum.spread.high + combining->time};
    return sum;
  }

  void compare(const Point& point, const std::string& rule, const std::optional<Side>& right) {
    const std::optional<Side> left = side(point);
    if (!left || !right || !slower(left->time, left->spread, right->time, right->spread)) return;
    Violation violation{rule, point.ranks, left->parts.front(), right->parts, left->time, right->time, false, ""};
    const auto known = [&](const Violation& other) { return other.same(violation); };
    if (std::ranges::any_of(found_, known) || std::ranges::any_of(refuted_, known)) return;  // the next larger says it
    if (const Duel* duel = duel_of(violation)) {
      Interval spread = interval(duel->right_times);
      spread.high += right->combining;
      violation.left_time = median(duel->left_times);
      violation.right_time = median(duel->right_times) + right->combining;
      violation.measured = true;
      if (!slower(violation.left_time, interval(duel->left_times), violation.right_time, spread)) {
        refuted_.push_back(std::move(violation));
        return;
      }
    }
    found_.push_back(std::move(violation));
  }

  const Duel* duel_of(const Violation& violation) const {
    if (violation.rule == larger_group) return nullptr;
    const auto found = std::ranges::find_if(measurements_.duels, [&](const Duel& duel) {
      return !duel.right_times.empty() && duel.ranks == violation.ranks && duel.left.front() == violation.left &&
             duel.right == violation.right;
    });
    return found == measurements_.duels.end() ? nullptr : &*found;
  }

  const Measurements& measurements_;
  bool single_copy_;
  Table table_;
  std::vector<Violation> found_, refuted_;
};

}  // namespace

std::span<const Guideline> guidelines() { return table(); }

std::string Guideline::text() const {
  constexpr std::array<std::string_view, 3> sizes{"(m)", "(P m)", "(m / P)"};
  std::string text = std::string(name_of(left)) + "(m) <= ";
  for (const Term& term : right)
    text += (&term == &right.front() ? "" : " + ") + std::string(name_of(term.kind)) +
            std::string(sizes[static_cast<std::size_t>(term.size)]);
  return text + (combining ? " + combining(m)" : "");
}

std::string Violation::text() const {
  std::string text = rule + ", on " + std::to_string(ranks) + " ranks: " + microseconds(left_time) + " against " +
                     microseconds(right_time) + " (" + text_of({left}) + " against " + text_of(right) +
                     (measured ? ", measured in turns); " : "); ");
  if (!repair.empty()) return text + "repaired: " + repair;
  text += overruled ? "not repaired: one choice serves all sizes" : "not repaired: no algorithm measured was faster";
  return rule == larger_block ? text + "; padding to " + std::to_string(right.front().bytes) + " bytes is" : text;
}

std::vector<Violation> check(const Measurements& measurements, const tune::Machine& machine, std::string_view lines) {
  return Check(measurements, machine, lines).run();
}

Repaired derive_and_repair(const Measurements& measurements, const tune::Machine& machine) {
  Repaired result{derive(measurements, machine), {}};
  result.violations = check(measurements, machine, result.lines);
  Pins pins;
  for (const Violation& violation : result.violations) {
    const Part& left = violation.left;
    const Candidate& best = *measurements.at(left.kind, violation.ranks, left.bytes)->best();
    if (best.algorithm != left.algorithm) pins[{left.kind, violation.ranks, left.bytes}] = best.algorithm;
  }
  if (pins.empty()) return result;
  result.lines = derive(measurements, machine, pins);
  const std::vector<Violation> left = check(measurements, machine, result.lines);
  for (Violation& violation : result.violations) {
    const Kind kind = violation.left.kind;
    const auto pin = pins.find({kind, violation.ranks, violation.left.bytes});
    violation.overruled = pin != pins.end() && collectives::get(kind).varying && !collectives::agrees_on_counts(kind);
    if (std::ranges::any_of(left, [&](const Violation& other) { return other.same(violation); })) continue;
    violation.repair = pin == pins.end() ? "by what was chosen elsewhere" : pin->second + " is chosen";
  }
  return result;
}

}  // namespace tutti::tuner
