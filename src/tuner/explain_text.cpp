// SPDX-License-Identifier: BSD-3-Clause
// Explanations for people and for programs.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "collectives/collective.hpp"
#include "tuner/explain.hpp"

namespace tutti::tuner {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t column = 28;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string rounds(std::size_t count) { return std::to_string(count) + (count == 1 ? " round" : " rounds"); }

std::vector<const Candidate*> by_time(const Point& point) {
  std::vector<const Candidate*> sorted;
  for (const Candidate& candidate : point.candidates)
    if (!candidate.times.empty()) sorted.push_back(&candidate);
  std::ranges::sort(sorted, {}, [](const Candidate* one) { return one->time(); });
  return sorted;
}

/// "34 % slower", with what the spread of both says about it.
std::string compare(const Candidate& runner_up, const Candidate& chosen) {
  char text[64];
  const double percent = (runner_up.time() / chosen.time() - 1) * 100;
  std::snprintf(text, sizeof text, "%.0f %% %s", std::abs(percent), percent < 0 ? "faster" : "slower");
  const Interval one = runner_up.spread(), other = chosen.spread();
  const bool apart = one.low > other.high || other.low > one.high;
  return text + std::string(apart ? "" : ", within the spread of the measurements");
}

std::string measured_text(const Explanation& explanation) {
  const Point& point = *explanation.measured;
  std::string text = "  measured      " + std::to_string(point.bytes) + " bytes on " + std::to_string(point.ranks) +
                     " ranks, " + explanation.date + "; median, and 95 % of it\n";
  for (const Candidate* candidate : by_time(point)) {
    const Interval spread = candidate->spread();
    text += "    " + padded(candidate->algorithm, column) + padded(microseconds(candidate->time()), 12) +
            padded(microseconds(spread.low) + " to " + microseconds(spread.high), 26) + rounds(candidate->times.size());
    if (candidate == explanation.chosen) text += ", chosen";
    if (candidate->dropped) text += ", then dropped";
    for (const std::string& same : candidate->same) text += ", the same as " + same;
    text += "\n";
  }
  if (explanation.runner_up != nullptr && explanation.chosen != nullptr)
    text += "  runner-up     " + explanation.runner_up->algorithm + ": " +
            compare(*explanation.runner_up, *explanation.chosen) + "\n";
  return text;
}

Json json_of(const Candidate& candidate, const Candidate* chosen) {
  const Interval spread = candidate.spread();
  Json json{{"algorithm", candidate.algorithm}, {"median_ns", candidate.time()},    {"low_ns", spread.low},
            {"high_ns", spread.high},           {"rounds", candidate.times.size()}, {"dropped", candidate.dropped},
            {"chosen", &candidate == chosen}};
  if (!candidate.same.empty()) json["same"] = candidate.same;
  return json;
}

}  // namespace

std::string Explanation::text() const {
  const std::string name(name_of(question.kind));
  std::string text = name + " of " + std::to_string(question.bytes) + " bytes on " + std::to_string(question.ranks) +
                     " ranks: " + algorithm + "\n  " + sentence + "\n";
  text += "  table         " + origin + (origin == "TUTTI_ALGORITHMS" ? "" : ": " + why) + "\n";
  if (!trouble.empty()) text += "                " + trouble + "\n";
  text += "  line          " + line + "\n";
  if (measured != nullptr) text += measured_text(*this);
  if (!advice.empty()) text += "  " + advice + "\n";
  text += "  would change\n";
  for (const Change& change : changes) text += "    " + padded(change.when, column) + change.algorithm + "\n";
  if (origin != "TUTTI_ALGORITHMS") text += "    TUTTI_ALGORITHMS=" + name + "=NAME goes before the table\n";
  return text;
}

std::string Explanation::json() const {
  Json json{{"collective", std::string(name_of(question.kind))},
            {"bytes", question.bytes},
            {"ranks", question.ranks},
            {"single_copy", question.single_copy},
            {"commutative", question.commutative},
            {"algorithm", algorithm},
            {"line", line},
            {"table", origin},
            {"why", why},
            {"trouble", trouble},
            {"measured", nullptr},
            {"runner_up", nullptr},
            {"changes", Json::array()},
            {"advice", advice}};
  if (measured != nullptr) {
    json["measured"] = {{"bytes", measured->bytes}, {"ranks", measured->ranks}, {"date", date}};
    for (const Candidate* candidate : by_time(*measured))
      json["measured"]["candidates"].push_back(json_of(*candidate, chosen));
  }
  if (runner_up != nullptr) {
    json["runner_up"] = {{"algorithm", runner_up->algorithm}};
    if (chosen != nullptr) json["runner_up"]["ratio"] = runner_up->time() / chosen->time();
  }
  for (const Change& change : changes)
    json["changes"].push_back({{"when", change.when}, {"algorithm", change.algorithm}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tuner
