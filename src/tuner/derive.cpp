// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/derive.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tuner/candidates.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {

using collectives::Needs;
using tune::Table;

namespace {

/// The choice for a range of sizes: what to take, then what to take where that cannot be used.
struct Range {
  Count bytes;  ///< Up to so many.
  std::vector<std::string> choices;
};
using Ranges = std::vector<Range>;

/// A size between two measured ones, in a form that people can read.
Count between(Count smaller, Count larger) {
  const double middle = std::sqrt(static_cast<double>(std::max<Count>(smaller, 1)) * static_cast<double>(larger));
  Count unit = 1;
  while (static_cast<double>(unit) * 4096 <= middle) unit *= 1024;
  if (middle >= 1024 && unit == 1) unit = 1024;
  return std::clamp(static_cast<Count>(std::llround(middle / static_cast<double>(unit))) * unit, smaller, larger - 1);
}

Rank between(Rank smaller, Rank larger) {
  const double middle = std::sqrt(static_cast<double>(smaller) * static_cast<double>(larger));
  return std::clamp(static_cast<Rank>(middle), smaller, larger - 1);
}

/// The fastest candidate that can do without what the first choice needs; nullptr when all need it.
const Candidate* spare(const Point& point, const Needs& needs) {
  const Candidate* found = nullptr;
  for (const Candidate& candidate : point.candidates) {
    if (candidate.times.empty() || common_needs(algorithm_of(point.kind, candidate.algorithm).needs, needs) > 0)
      continue;
    const std::pair<bool, double> here{candidate.dropped, candidate.time()};
    if (found == nullptr || here < std::pair<bool, double>{found->dropped, found->time()}) found = &candidate;
  }
  return found;
}

std::vector<std::string> with_spare(const Point& point, const std::string& first) {
  const Needs& needs = algorithm_of(point.kind, first).needs;
  std::vector<std::string> choices{first};
  if (common_needs(needs, needs) == 0) return choices;
  if (const Candidate* other = spare(point, needs)) choices.push_back(other->algorithm);
  return choices;
}

/// The ranges of a number of ranks and of those near it.
struct Rows {
  Rank above, ranks;  ///< More than, and up to.
  Count smallest;
  Ranges ranges;
  bool same(const Rows& other) const {
    const auto equal = [](const Range& a, const Range& b) { return a.bytes == b.bytes && a.choices == b.choices; };
    return smallest == other.smallest && std::ranges::equal(ranges, other.ranges, equal);
  }
};

/// Writes the lines, collective by collective.
class Derivation {
 public:
  Derivation(const Measurements& measurements, const tune::Machine& machine, const Pins& pins)
      : measurements_(measurements),
        pins_(pins),
        standard_(Table::parse(Table::standard(machine.conditions()))),
        single_copy_(machine.single_copy) {}

  std::string run() {
    for (const collectives::Collective& collective : collectives::all()) write_collective(collective.kind);
    return std::move(text_);
  }

 private:
  std::string standard_at(const Point& point) const;
  std::string choose(const Point& point, const std::string& before) const;
  std::string choose_for_all(const std::vector<const Point*>& row) const;
  Ranges ranges_of(const std::vector<const Point*>& row) const;
  void write_standard(Kind kind, Count bytes, Rank ranks, Rank above);
  void write(Kind kind, const Rows& rows);
  void write_collective(Kind kind);

  const Measurements& measurements_;
  const Pins& pins_;
  const Table standard_;
  const bool single_copy_;
  std::string text_;
};

std::string Derivation::standard_at(const Point& point) const {
  const CallShape shape(point.kind, point.ranks, point.bytes);
  return tune::text_of(standard_.choose(shape.of(0), point.kind, shape.table_bytes(), single_copy_));
}

/// Of a form whose ranks do not know each other's counts: one choice for all sizes, by the mean ratio to the fastest;
/// the standard table's where it is as fast at every size.
std::string Derivation::choose_for_all(const std::vector<const Point*>& row) const {
  const std::string standard = standard_at(*row.back());
  const auto keeps_up = [&](const Point* point) {
    const Candidate* candidate = point->find(standard);
    return candidate != nullptr && as_fast(*candidate, *point->best());
  };
  if (std::ranges::all_of(row, keeps_up)) return standard;
  std::string found = row.front()->best()->algorithm;
  double least = HUGE_VAL;
  for (const Candidate& candidate : row.front()->candidates) {
    double sum = 0;
    for (const Point* point : row) {
      const Candidate* here = point->find(candidate.algorithm);
      sum += here == nullptr ? HUGE_VAL : std::log(here->time() / point->best()->time());
    }
    if (sum < least) {
      least = sum;
      found = candidate.algorithm;
    }
  }
  return found;
}

/// The pinned one, or else what is as fast as the fastest.
std::string Derivation::choose(const Point& point, const std::string& before) const {
  if (const auto pin = pins_.find({point.kind, point.ranks, point.bytes}); pin != pins_.end()) return pin->second;
  const Candidate& best = *point.best();
  for (const std::string& wish : {before, standard_at(point)}) {
    const Candidate* candidate = point.find(wish);
    if (candidate != nullptr && as_fast(*candidate, best)) return candidate->algorithm;
  }
  return best.algorithm;
}

Ranges Derivation::ranges_of(const std::vector<const Point*>& row) const {
  const Kind kind = row.front()->kind;
  const bool sizes_matter = !collectives::get(kind).varying || collectives::agrees_on_counts(kind);
  if (!sizes_matter) return {{Table::unlimited, with_spare(*row.back(), choose_for_all(row))}};
  if (row.back()->bytes == 0) return {{Table::unlimited, with_spare(*row.back(), choose(*row.back(), ""))}};
  Ranges ranges;
  std::string before;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Point& point = *row[i];
    before = choose(point, before);
    const Count limit = i + 1 < row.size() ? between(point.bytes, row[i + 1]->bytes) : 2 * point.bytes;
    std::vector<std::string> choices = with_spare(point, before);
    if (!ranges.empty() && ranges.back().choices == choices)
      ranges.back().bytes = limit;
    else
      ranges.push_back({limit, std::move(choices)});
  }
  return ranges;
}

/// What the standard table has for smaller blocks, or fewer ranks, than were measured; lines for fewer than `above`
/// ranks would never be reached.
void Derivation::write_standard(Kind kind, Count bytes, Rank ranks, Rank above) {
  for (Table::Line line : standard_.lines()) {
    if (line.kind != kind || line.ranks <= above) continue;
    line.bytes = std::min(line.bytes, bytes);
    line.ranks = std::min<Count>(line.ranks, ranks);
    text_ += tune::text_of(line) + "\n";
  }
}

void Derivation::write(Kind kind, const Rows& rows) {
  constexpr Count all = element;  // measured from the smallest on
  if (rows.smallest > all && rows.ranges.back().bytes != Table::unlimited)
    write_standard(kind, rows.smallest / 2, rows.ranks, rows.above);
  for (const Range& range : rows.ranges)
    for (const std::string& choice : range.choices)
      text_ += tune::text_of(Table::Line{kind, range.bytes, rows.ranks, tune::named(kind, choice)}) + "\n";
}

void Derivation::write_collective(Kind kind) {
  const std::vector<Rank> measured = measurements_.ranks(kind);
  if (measured.empty()) return;
  constexpr double half_way = 0.70710678;
  const auto below = static_cast<Rank>(measured.front() * half_way);
  if (below >= 2) write_standard(kind, Table::unlimited, below, 0);
  Rank above = below >= 2 ? below : 0;
  std::optional<Rows> waiting;  // while more ranks may have the same
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const std::vector<const Point*> row = measurements_.row(kind, measured[i]);
    const Rank limit = i + 1 < measured.size() ? between(measured[i], measured[i + 1]) : 2 * measured[i];
    Rows rows{above, limit, row.front()->bytes, ranges_of(row)};
    if (waiting && waiting->same(rows))
      rows.above = waiting->above;
    else if (waiting)
      write(kind, *waiting);
    waiting = std::move(rows);
    above = limit;
  }
  write(kind, *waiting);
}

}  // namespace

const collectives::Algorithm& algorithm_of(Kind kind, std::string_view name) {
  return collectives::algorithms()[static_cast<std::size_t>(tune::named(kind, name).algorithm)];
}

int common_needs(const Needs& one, const Needs& other) {
  return static_cast<int>(one.single_copy && other.single_copy) +
         static_cast<int>(one.commutative && other.commutative) +
         static_cast<int>(one.power_of_two && other.power_of_two);
}

bool as_fast(const Candidate& candidate, const Candidate& best) {
  constexpr double surely = 1.02, within_noise = 1.15;
  const double ratio = candidate.time() / best.time();
  return ratio <= surely || (ratio <= within_noise && candidate.spread().low <= best.spread().high);
}

std::string derive(const Measurements& measurements, const tune::Machine& machine, const Pins& pins) {
  return Derivation(measurements, machine, pins).run();
}

}  // namespace tutti::tuner
