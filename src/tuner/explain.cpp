// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/explain.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "collectives/collective.hpp"
#include "tuner/candidates.hpp"
#include "tuner/derive.hpp"

namespace tutti::tuner {

using tune::Table;

namespace {

/// Asks the table, for the question and for questions near by.
class Asker {
 public:
  Asker(const Table& table, const Question& question) : table_(table), question_(question) {}

  const Table::Line& line(const Question& question) const {
    const CallShape shape(question.kind, question.ranks, question.bytes);
    collectives::Shape one = shape.of(0);
    one.commutative = question.commutative;
    return table_.line(one, question.kind, shape.table_bytes(), question.single_copy);
  }
  std::string choice(const Question& question) const { return tune::text_of(line(question).choice); }

  std::vector<Change> changes() const {
    std::vector<Change> found;
    if (std::optional<Change> more = more_bytes()) found.push_back(*more);
    if (std::optional<Change> fewer = fewer_bytes()) found.push_back(*fewer);
    if (std::optional<Change> more = more_ranks()) found.push_back(*more);
    if (std::optional<Change> fewer = fewer_ranks()) found.push_back(*fewer);
    Question other = question_;
    other.single_copy = !other.single_copy;
    add_other(found, other, other.single_copy ? "with single copy" : "without single copy");
    other = question_;
    other.commutative = !other.commutative;
    if (collectives::get(question_.kind).reduces)
      add_other(found, other, other.commutative ? "if the operation commutes" : "if the operation does not commute");
    return found;
  }

 private:
  void add_other(std::vector<Change>& found, const Question& other, const char* when) const {
    const std::string choice = this->choice(other);
    if (choice != tune::text_of(line(question_).choice)) found.push_back({when, choice});
  }

  /// Sizes at which the choice may change: each is the largest of its range.
  std::set<Count> sizes() const {
    std::set<Count> limits;
    for (const Table::Line& line : table_.lines())
      if (line.kind == question_.kind && line.bytes != Table::unlimited) limits.insert(line.bytes / element * element);
    const collectives::Shape shape = CallShape(question_.kind, question_.ranks, 0).of(0);
    for (const Count cell : {shape.cell.small, shape.cell.medium, shape.cell.large}) {
      limits.insert(cell * element);
      limits.insert(cell / question_.ranks * element);
    }
    return limits;
  }
  std::set<Rank> ranks() const {
    std::set<Rank> limits;
    for (const Table::Line& line : table_.lines())
      if (line.kind == question_.kind && line.ranks < (1 << 20)) limits.insert(static_cast<Rank>(line.ranks));
    return limits;
  }

  std::optional<Change> changed(const Question& other, const std::string& when) const {
    const std::string now = choice(question_), then = choice(other);
    return now == then ? std::nullopt : std::optional<Change>({when, then});
  }

  std::optional<Change> more_bytes() const {
    Question other = question_;
    for (const Count limit : sizes()) {
      if (limit < question_.bytes) continue;
      other.bytes = limit + element;
      if (auto change = changed(other, "from " + std::to_string(other.bytes) + " bytes")) return change;
    }
    return std::nullopt;
  }
  std::optional<Change> fewer_bytes() const {
    Question other = question_;
    const std::set<Count> all = sizes();
    for (auto limit = all.rbegin(); limit != all.rend(); ++limit) {
      if (*limit >= question_.bytes) continue;
      other.bytes = *limit;
      if (auto change = changed(other, "up to " + std::to_string(other.bytes) + " bytes")) return change;
    }
    return std::nullopt;
  }
  std::optional<Change> more_ranks() const {
    Question other = question_;
    for (const Rank limit : ranks()) {
      if (limit < question_.ranks) continue;
      other.ranks = limit + 1;
      if (auto change = changed(other, "from " + std::to_string(other.ranks) + " ranks")) return change;
    }
    return std::nullopt;
  }
  std::optional<Change> fewer_ranks() const {
    Question other = question_;
    const std::set<Rank> all = ranks();
    for (auto limit = all.rbegin(); limit != all.rend(); ++limit) {
      if (*limit >= question_.ranks || *limit < 2) continue;
      other.ranks = *limit;
      if (auto change = changed(other, "up to " + std::to_string(other.ranks) + " ranks")) return change;
    }
    return std::nullopt;
  }

  const Table& table_;
  const Question& question_;
};

double distance(double a, double b) { return std::abs(std::log(std::max(a, 1.0) / std::max(b, 1.0))); }

/// The measured point that is nearest to the question: by ranks first.
const Point* nearest(const Measurements& measurements, const Question& question) {
  const Point* found = nullptr;
  std::pair<double, double> least;
  for (const Point& point : measurements.points) {
    if (point.kind != question.kind || point.best() == nullptr) continue;
    const std::pair<double, double> here{
        distance(point.ranks, question.ranks),
        distance(static_cast<double>(point.bytes), static_cast<double>(question.bytes))};
    if (found != nullptr && here >= least) continue;
    found = &point;
    least = here;
  }
  return found;
}

void look_up(Explanation& explanation, const Measurements& measurements) {
  const Point* point = nearest(measurements, explanation.question);
  if (point == nullptr) return;
  explanation.measured = point;
  explanation.date = measurements.date;
  explanation.chosen = point->find(explanation.algorithm);
  for (const Candidate& candidate : point->candidates) {
    if (candidate.times.empty() || &candidate == explanation.chosen) continue;
    if (explanation.runner_up == nullptr || candidate.time() < explanation.runner_up->time())
      explanation.runner_up = &candidate;
  }
}

std::string advise(const Explanation& explanation) {
  const Question& question = explanation.question;
  const std::string name(name_of(question.kind));
  if (explanation.origin == "TUTTI_ALGORITHMS")
    return "TUTTI_ALGORITHMS goes before every table; unset it to see theirs";
  if (form_of(question.kind) == nullptr)
    return name + " depends on what the program has, a graph or layouts of each pair, and is not measured";
  if (explanation.measured == nullptr)
    return "not measured on this machine: tutti tune " + name + " -n " + std::to_string(question.ranks) + " does";
  if (explanation.chosen == nullptr) return "the choice was not measured there: tutti tune " + name + " does";
  return {};
}

}  // namespace

Explanation explain(const Question& question, const std::string& overrides, const tune::Source& source,
                    const Measurements* measurements) {
  const std::string first = tune::lines_of(overrides);
  const Table table = source.table(first);
  const Asker asker(table, question);
  const Table::Line& line = asker.line(question);
  const auto place = static_cast<std::size_t>(&line - table.lines().data());
  const std::size_t given = Table::parse(first).lines().size(), tuned = Table::parse(source.lines).lines().size();

  Explanation explanation;
  explanation.question = question;
  explanation.algorithm = tune::text_of(line.choice);
  explanation.sentence = algorithm_of(question.kind, explanation.algorithm).sentence;
  explanation.line = tune::text_of(line);
  explanation.origin = place < given ? "TUTTI_ALGORITHMS" : place < given + tuned ? source.name : "standard";
  explanation.why = place >= given + tuned && tuned > 0 ? source.name + " has no line for this call" : source.why;
  explanation.trouble = source.trouble;
  if (measurements != nullptr) look_up(explanation, *measurements);
  explanation.changes = asker.changes();
  explanation.advice = advise(explanation);
  return explanation;
}

}  // namespace tutti::tuner
