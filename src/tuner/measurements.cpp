// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/measurements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "collectives/collective.hpp"
#include "tune/table.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* format = "tutti measurements 2";

/// The rank, from 1, of the value at the lower end: as large as it may be for 95 %.
std::size_t lower_end(std::size_t count) {
  double below = 0, chance = std::pow(0.5, static_cast<double>(count));  // of exactly k values below the median
  std::size_t k = 0;
  for (; k < count; ++k) {
    below += chance;
    if (2 * below > 0.05) break;
    chance *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return std::max<std::size_t>(k, 1);
}

/// A number that a time or a size can be.
double positive(const Json& value) {
  const double number = value.get<double>();
  if (!std::isfinite(number) || number <= 0 || number > 1e15) throw Error(Cause::usage, "a time is no time");
  return number;
}

Count whole_from(const Json& value, Count least, Count most) {
  const auto number = value.get<double>();  // which 1e99 is, and no Count
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)) || number != std::floor(number))
    throw Error(Cause::usage, "a size or a number of ranks is out of range");
  return static_cast<Count>(number);
}

Count bytes_from(const Json& value) { return whole_from(value, 0, Count{1} << 40); }
Rank ranks_from(const Json& value) { return static_cast<Rank>(whole_from(value, 1, Count{1} << 20)); }

std::vector<double> times_from(const Json& json) {
  std::vector<double> times;
  for (const Json& time : json) times.push_back(positive(time));
  return times;
}

Json to_json(const Candidate& candidate) {
  Json json{{"algorithm", candidate.algorithm}};
  if (!candidate.same.empty()) json["same"] = candidate.same;
  if (candidate.dropped) json["dropped"] = true;
  json["ns"] = candidate.times;
  return json;
}

Candidate candidate_from(const Json& json) {
  Candidate candidate;
  candidate.algorithm = json.at("algorithm").get<std::string>();
  candidate.same = json.value("same", std::vector<std::string>());
  candidate.dropped = json.value("dropped", false);
  candidate.times = times_from(json.at("ns"));
  return candidate;
}

Json to_json(const std::vector<Part>& parts) {
  Json json = Json::array();
  for (const Part& part : parts)
    json.push_back(
        {{"collective", std::string(name_of(part.kind))}, {"bytes", part.bytes}, {"algorithm", part.algorithm}});
  return json;
}

Kind kind_from(const Json& json) {
  const auto name = json.at("collective").get<std::string>();
  const collectives::Collective* collective = collectives::find(name);
  if (collective == nullptr) throw Error(Cause::usage, "there is no collective \"" + name + "\"");
  return collective->kind;
}

std::vector<Part> parts_from(const Json& json) {
  std::vector<Part> parts;
  for (const Json& part : json)
    parts.push_back({kind_from(part), bytes_from(part.at("bytes")), part.at("algorithm").get<std::string>()});
  if (parts.empty()) throw Error(Cause::usage, "a side of a duel is empty");
  return parts;
}

Duel duel_from(const Json& json) {
  return {ranks_from(json.at("ranks")), parts_from(json.at("left")), parts_from(json.at("right")),
          times_from(json.at("left_ns")), times_from(json.at("right_ns"))};
}

Point point_from(const Json& json) {
  Point point;
  point.kind = kind_from(json);
  point.ranks = ranks_from(json.at("ranks"));
  point.bytes = bytes_from(json.at("bytes"));
  for (const Json& candidate : json.at("candidates")) point.candidates.push_back(candidate_from(candidate));
  return point;
}

}  // namespace

std::string microseconds(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g us", nanoseconds / 1e3);
  return text;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Interval interval(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t low = lower_end(values.size());
  return {values[low - 1], values[values.size() - low]};
}

const Candidate* Point::best() const {
  const Candidate* found = nullptr;
  for (const Candidate& candidate : candidates)
    if (!candidate.times.empty() && !candidate.dropped && (found == nullptr || candidate.time() < found->time()))
      found = &candidate;
  return found;
}

bool Point::settled() const {
  constexpr std::size_t enough = 3;
  const Candidate* fastest = best();
  return fastest != nullptr && fastest->times.size() >= enough;
}

const Candidate* Point::find(std::string_view algorithm) const {
  for (const Candidate& candidate : candidates)
    if (!candidate.times.empty() &&
        (candidate.algorithm == algorithm || std::ranges::find(candidate.same, algorithm) != candidate.same.end()))
      return &candidate;
  return nullptr;
}

const Point* Measurements::at(Kind kind, Rank ranks, Count bytes) const {
  const auto found = std::ranges::find_if(
      points, [&](const Point& point) { return point.kind == kind && point.ranks == ranks && point.bytes == bytes; });
  return found == points.end() ? nullptr : &*found;
}

std::vector<const Point*> Measurements::row(Kind kind, Rank ranks) const {
  std::vector<const Point*> found;
  for (const Point& point : points)
    if (point.kind == kind && point.ranks == ranks && point.settled()) found.push_back(&point);
  std::ranges::sort(found, {}, &Point::bytes);
  return found;
}

std::vector<Rank> Measurements::ranks(Kind kind) const {
  std::set<Rank> found;
  for (const Point& point : points)
    if (point.kind == kind && point.settled()) found.insert(point.ranks);
  return {found.begin(), found.end()};
}

void Measurements::add(const Measurements& newer) {
  std::set<std::tuple<Kind, Rank, Count>> settled;
  for (const Point& point : newer.points)
    if (point.settled()) settled.emplace(point.kind, point.ranks, point.bytes);
  const auto measured_anew = [&](const Point& point) {
    return settled.contains({point.kind, point.ranks, point.bytes});
  };
  // A run of some collectives cannot repeat a duel with another one, which still decides by its own times.
  std::erase_if(duels, [&](const Duel& duel) {
    const auto again = [&](const Part& part) { return settled.contains({part.kind, duel.ranks, part.bytes}); };
    return std::ranges::all_of(duel.left, again) && std::ranges::all_of(duel.right, again);
  });
  duels.insert(duels.end(), newer.duels.begin(), newer.duels.end());
  std::erase_if(points, measured_anew);
  std::ranges::copy_if(newer.points, std::back_inserter(points), measured_anew);
  if (!newer.combining.empty()) combining = newer.combining;
  machine = newer.machine;
  date = newer.date;
  version = newer.version;
  remarks = newer.remarks;
}

std::vector<Kind> drop_unknown(Measurements& measurements) {
  std::set<Kind> without;
  const auto unknown = [&](Kind kind, const std::string& algorithm) {
    try {
      tune::named(kind, algorithm);
      return false;
    } catch (const Error&) {
      without.insert(kind);
      return true;
    }
  };
  for (Point& point : measurements.points)
    std::erase_if(point.candidates, [&](const Candidate& one) { return unknown(point.kind, one.algorithm); });
  std::erase_if(measurements.points, [](const Point& point) { return point.candidates.empty(); });
  std::erase_if(measurements.duels, [&](const Duel& duel) {
    const auto lost = [&](const Part& part) { return unknown(part.kind, part.algorithm); };
    return std::ranges::any_of(duel.left, lost) || std::ranges::any_of(duel.right, lost);
  });
  return {without.begin(), without.end()};
}

std::string to_json(const Measurements& measurements) {
  Json json{{"format", format},
            {"machine", measurements.machine},
            {"date", measurements.date},
            {"version", measurements.version},
            {"remarks", measurements.remarks},
            {"combining", Json::array()},
            {"points", Json::array()},
            {"duels", Json::array()}};
  for (const Combining& one : measurements.combining)
    json["combining"].push_back({{"bytes", one.bytes}, {"ns", one.time}});
  for (const Point& point : measurements.points) {
    Json one{{"collective", std::string(name_of(point.kind))},
             {"ranks", point.ranks},
             {"bytes", point.bytes},
             {"candidates", Json::array()}};
    for (const Candidate& candidate : point.candidates) one["candidates"].push_back(to_json(candidate));
    json["points"].push_back(std::move(one));
  }
  for (const Duel& duel : measurements.duels)
    json["duels"].push_back({{"ranks", duel.ranks},
                             {"left", to_json(duel.left)},
                             {"right", to_json(duel.right)},
                             {"left_ns", duel.left_times},
                             {"right_ns", duel.right_times}});
  // Names may hold any bytes, for example the processor's.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Measurements from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<std::string>() != format) throw Error(Cause::usage, "they have another version");
    Measurements found;
    found.machine = json.at("machine").get<std::string>();
    found.date = json.at("date").get<std::string>();
    found.version = json.at("version").get<std::string>();
    found.remarks = json.at("remarks").get<std::vector<std::string>>();
    for (const Json& one : json.at("combining"))
      found.combining.push_back({bytes_from(one.at("bytes")), positive(one.at("ns"))});
    for (const Json& duel : json.at("duels")) found.duels.push_back(duel_from(duel));
    std::set<std::tuple<Kind, Rank, Count>> places;
    for (const Json& json_of_point : json.at("points")) {
      const Point& point = found.points.emplace_back(point_from(json_of_point));
      if (!places.emplace(point.kind, point.ranks, point.bytes).second)
        throw Error(Cause::usage, "a point is there twice");
    }
    return found;
  } catch (const Json::exception& error) {
    throw Error(Cause::usage, "these are no measurements of tutti tune: " + std::string(error.what()));
  }
}

}  // namespace tutti::tuner
