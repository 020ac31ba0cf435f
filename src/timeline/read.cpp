// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/utf8.hpp"
#include "timeline/timeline.hpp"
#include "trace/file.hpp"
#include "tutti/error.hpp"

namespace tutti::timeline {
namespace {

using nlohmann::json;
using trace::lanes;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(Cause::system, file + " is no trace of Tutti's: " + why + "; make one by tutti run --trace");
}

/// A file may hold anything, and what is read here is shown on terminals.
std::string text(const json& value) { return base::printable(value.get<std::string>()); }

std::int64_t nanoseconds(const json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

void read_head(const std::string& line, Timeline& timeline) {
  const std::size_t end = line.rfind(", \"traceEvents\": [");
  if (end == line.npos) throw std::runtime_error("its first line is another one");
  const json about = json::parse(line.substr(0, end) + "}").at("otherData");
  if (about.at("tutti") != trace::file_version) throw std::runtime_error("it is of another version");
  const auto ranks = about.at("ranks").get<std::int64_t>();
  if (ranks < 1 || ranks > trace::most_ranks) throw std::runtime_error("no job has so many ranks");
  timeline.ranks = static_cast<int>(ranks);
  timeline.dropped = about.at("dropped");
  timeline.nameless = about.at("nameless");
  timeline.clocks = text(about.at("clocks"));
  const json& error = about.at("clock_error_ns");
  timeline.clock_error = error.is_null() ? std::nullopt : std::optional(error.get<std::int64_t>());
  std::vector<bool> there(static_cast<std::size_t>(timeline.ranks), false);
  for (const json& one : about.at("of_ranks")) {
    const Rank rank = one.at("rank");
    there.at(static_cast<std::size_t>(rank)) = true;
    if (one.value("recording", false))
      timeline.recording.push_back(rank);
    else if (!one.at("finished"))
      timeline.unfinished.push_back(rank);
  }
  for (std::size_t rank = 0; rank < there.size(); ++rank)
    if (!there[rank]) timeline.missing.push_back(static_cast<Rank>(rank));
}

/// Whose thread it is, and which.
std::pair<Rank, int> thread_of(const json& event, const Timeline& timeline) {
  const auto thread = event.at("tid").get<std::int64_t>();
  if (thread < 0 || thread / lanes >= timeline.ranks) throw std::runtime_error("there is no such rank");
  return {static_cast<Rank>(thread / lanes), static_cast<int>(thread % lanes)};
}

Slice slice_of(const json& event, const Timeline& timeline) {
  const json& about = event.at("args");
  Slice slice;
  slice.begin = nanoseconds(event.at("ts"));
  slice.end = slice.begin + nanoseconds(event.at("dur"));
  slice.name = text(event.at("name"));
  slice.category = text(event.at("cat"));
  std::tie(slice.rank, slice.lane) = thread_of(event, timeline);
  slice.group = text(about.at("group"));
  if (const json& context = about.at("context"); !context.is_null()) slice.context = context;
  if (const auto site = about.find("site"); site != about.end()) slice.site = text(*site);
  slice.number = about.at("number");
  slice.bytes = about.value("bytes", std::uint64_t{0});
  slice.waiting = about.value("waiting_ns", std::int64_t{0});
  slice.stands_for = about.value("stands_for", std::int64_t{1});
  if (slice.stands_for < 1 || slice.length() < 0 || slice.length() > trace::longest_slice / slice.stands_for)
    throw std::runtime_error("it lasts longer than anything can");
  slice.blocking = about.value("blocking", true);
  slice.finished = !about.value("unfinished", false);
  return slice;
}

void read_event(const json& event, Timeline& timeline, std::map<std::uint64_t, Arrow>& open) {
  const std::string phase = event.at("ph");
  if (phase == "X" && event.at("cat") != "phase") {
    timeline.slices.push_back(slice_of(event, timeline));
  } else if (phase == "s") {
    open[event.at("id")] = {thread_of(event, timeline).first, 0, nanoseconds(event.at("ts")), 0};
  } else if (phase == "f") {
    const auto begun = open.find(event.at("id"));
    if (begun == open.end()) return;
    begun->second.to = thread_of(event, timeline).first;
    begun->second.end = nanoseconds(event.at("ts"));
    timeline.arrows.push_back(begun->second);
    open.erase(begun);
  }
}

}  // namespace

std::int64_t Timeline::length() const {
  std::int64_t end = 0;
  for (const Slice& slice : slices) end = std::max(end, slice.end);
  return end;
}

Timeline read(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) refuse(path, "it cannot be read");
  Timeline timeline;
  std::map<std::uint64_t, Arrow> open;
  int number = 1;
  try {
    read_head(line, timeline);
    for (++number; std::getline(file, line) && line != "]}"; ++number) {
      if (!line.empty() && line.back() == ',') line.pop_back();
      read_event(json::parse(line), timeline, open);
    }
  } catch (const std::exception& error) {
    refuse(path, "line " + std::to_string(number) + ": " + error.what());
  }
  if (line != "]}") refuse(path, "its end is missing");
  std::ranges::stable_sort(timeline.slices, {}, &Slice::begin);
  return timeline;
}

}  // namespace tutti::timeline
