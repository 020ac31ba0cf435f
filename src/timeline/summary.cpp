// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include "base/names.hpp"
#include "timeline/timeline.hpp"

namespace tutti::timeline {
namespace {

constexpr std::size_t most_late = 5, most_calls = 10;

/// "1.23 ms", with a unit that suits it.
std::string text_of(std::int64_t nanoseconds) {
  const auto time = static_cast<double>(nanoseconds);
  const auto [scale, unit] = time >= 1e9   ? std::pair(1e9, "s")
                             : time >= 1e6 ? std::pair(1e6, "ms")
                             : time >= 1e3 ? std::pair(1e3, "us")
                                           : std::pair(1.0, "ns");
  char text[40];
  std::snprintf(text, sizeof text, "%.*f %s", scale == 1.0 ? 0 : 2, time / scale, unit);
  return text;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  const double share = whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  char text[20];
  std::snprintf(text, sizeof text, "%.0f %%", share);
  return text;
}

/// Calls that the program has not made have none, nor those of MPI programs.
std::string site_of(const std::string& site) { return site.empty() ? "(no place)" : site; }

/// Rows of words in columns as wide as they must be; the last one is written as it is.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i)
        line += " " + row[i] + (i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 1, ' ') : "");
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A collective, by the ranks that called it.
struct Meeting {
  std::vector<const Slice*> calls;
  const Slice* first = nullptr;
  const Slice* last = nullptr;
  std::int64_t skew() const { return last->begin - first->begin; }
  std::int64_t times() const { return first->stands_for; }
};

std::vector<Meeting> meetings_of(const Timeline& timeline) {
  std::map<std::pair<std::string, std::uint64_t>, Meeting> found;
  for (const Slice& slice : timeline.slices) {
    if (slice.category != "collective" || slice.context.empty()) continue;
    Meeting& meeting = found[{slice.context, slice.number}];
    if (meeting.calls.empty()) meeting.first = &slice;
    meeting.last = &slice;  // slices are ordered by their begin
    meeting.calls.push_back(&slice);
  }
  std::vector<Meeting> meetings;
  for (auto& [key, meeting] : found) meetings.push_back(std::move(meeting));
  return meetings;
}

std::string heading(const Timeline& timeline, const std::vector<Meeting>& meetings) {
  std::int64_t collectives = 0;
  for (const Meeting& meeting : meetings) collectives += meeting.times();
  std::string text = std::to_string(timeline.ranks) + (timeline.ranks == 1 ? " rank, " : " ranks, ") +
                     std::to_string(collectives) + " collectives in " + text_of(timeline.length()) + "\n";
  if (timeline.clocks == "one")
    text += "clocks: all ranks share one\n";
  else
    text += "clocks: " + timeline.clocks +
            (timeline.clock_error ? "; times are wrong by " + text_of(*timeline.clock_error) + " at most\n"
                                  : "; nobody knows by how much times are wrong\n");
  if (collectives != static_cast<std::int64_t>(meetings.size()))
    text += "noted: " + std::to_string(meetings.size()) +
            " of the collectives; later ones each stand for 2, 4, 8 ..., and numbers and sums count all\n";
  if (timeline.dropped > 0)
    text += "DROPPED: " + std::to_string(timeline.dropped) +
            " events had no room and are not here; record again with a larger TUTTI_TRACE_EVENTS\n";
  if (timeline.nameless > 0)
    text += "NAMELESS: " + std::to_string(timeline.nameless) +
            " groups and places had no room for their names; who came late to calls of such groups is not here; record "
            "again with a larger TUTTI_TRACE_EVENTS\n";
  if (!timeline.recording.empty())
    text += base::list_ranks(timeline.recording) + " still recorded when this was made; merge again when the job has " +
            "ended\n";
  if (!timeline.unfinished.empty())
    text += base::list_ranks(timeline.unfinished) + " died before the end; what was recorded until then is here\n";
  if (!timeline.missing.empty()) text += base::list_ranks(timeline.missing) + " left no record\n";
  return text;
}

std::string late_comers(std::vector<Meeting> meetings) {
  std::ranges::stable_sort(meetings, std::greater(), &Meeting::skew);
  std::erase_if(meetings, [](const Meeting& meeting) { return meeting.calls.size() < 2; });
  meetings.resize(std::min(meetings.size(), most_late));
  if (meetings.empty()) return {};
  Table table({"rank", "after the first", "to", "at"});
  for (const Meeting& meeting : meetings)
    table.add({std::to_string(meeting.last->rank), text_of(meeting.skew()),
               meeting.last->name + " #" + std::to_string(meeting.last->number) + " of " + meeting.last->group,
               site_of(meeting.last->site)});
  return "\nWho came late\n" + table.text();
}

std::string skews(const std::vector<Meeting>& meetings) {
  struct Skew {
    std::vector<std::int64_t> all;
    std::int64_t times = 0;
    std::map<Rank, std::int64_t> last;
  };
  std::map<std::string, Skew> found;
  for (const Meeting& meeting : meetings) {
    if (meeting.calls.size() < 2) continue;
    Skew& skew = found[meeting.first->name];
    skew.all.push_back(meeting.skew());
    skew.times += meeting.times();
    skew.last[meeting.last->rank] += meeting.times();
  }
  if (found.empty()) return {};
  Table table({"collective", "times", "median", "longest", "last most often"});
  for (auto& [name, skew] : found) {
    std::ranges::sort(skew.all);
    const auto most = std::ranges::max_element(skew.last, {}, [](const auto& one) { return one.second; });
    table.add({name, std::to_string(skew.times), text_of(skew.all[skew.all.size() / 2]), text_of(skew.all.back()),
               "rank " + std::to_string(most->first) + " (" + std::to_string(most->second) + ")"});
  }
  return "\nFrom the first rank's arrival to the last one's\n" + table.text();
}

/// Of a rank's time in calls that block it.
struct Share {
  std::int64_t inside = 0, waiting = 0, last_end = 0;
};

std::string ranks(const Timeline& timeline) {
  std::map<Rank, Share> shares;
  for (const Slice& slice : timeline.slices) {
    Share& share = shares[slice.rank];
    share.last_end = std::max(share.last_end, slice.end);
    const bool waits = slice.category == "wait", calls = slice.category == "collective" && slice.blocking;
    if (!waits && !calls) continue;
    share.inside += slice.of_all(slice.length());
    share.waiting += slice.of_all(waits ? slice.length() : std::min(slice.waiting, slice.length()));
  }
  Table table({"rank", "outside", "waiting", "moving", "waiting, of all"});
  std::int64_t most = 0, sum = 0;
  const std::int64_t all = timeline.length();
  for (const auto& [rank, share] : shares) {
    const std::int64_t outside = std::max<std::int64_t>(0, all - share.inside);
    most = std::max(most, outside);
    sum += outside;
    table.add({std::to_string(rank), text_of(outside), text_of(share.waiting), text_of(share.inside - share.waiting),
               percent(share.waiting, all)});
  }
  if (shares.empty()) return {};
  const std::int64_t mean = sum / static_cast<std::int64_t>(shares.size());
  return "\nWhat ranks do with their time\n" + table.text() + "  imbalance: the busiest rank is outside of Tutti " +
         percent(most - mean, mean) + " longer than the mean\n";
}

std::string costliest(const Timeline& timeline) {
  struct Cost {
    std::string name, site;
    std::int64_t sum = 0, longest = 0, waiting = 0;
    std::int64_t calls = 0;
  };
  std::map<std::pair<std::string, std::string>, Cost> found;
  for (const Slice& slice : timeline.slices) {
    if (slice.category == "step" || !slice.blocking) continue;
    Cost& cost = found[{slice.name, slice.site}];
    cost.name = slice.name;
    cost.site = slice.site;
    cost.sum += slice.of_all(slice.length());
    cost.longest = std::max(cost.longest, slice.length());
    cost.waiting += slice.of_all(slice.category == "wait" ? slice.length() : slice.waiting);
    cost.calls += slice.stands_for;
  }
  std::vector<Cost> costs;
  for (auto& [key, cost] : found) costs.push_back(std::move(cost));
  std::ranges::stable_sort(costs, std::greater(), &Cost::sum);
  costs.resize(std::min(costs.size(), most_calls));
  if (costs.empty()) return {};
  Table table({"call", "times", "together", "longest", "waiting", "at"});
  for (const Cost& cost : costs)
    table.add({cost.name, std::to_string(cost.calls), text_of(cost.sum), text_of(cost.longest),
               percent(cost.waiting, cost.sum), site_of(cost.site)});
  return "\nThe costliest calls, over all ranks\n" + table.text();
}

}  // namespace

std::string summary(const Timeline& timeline) {
  const std::vector<Meeting> meetings = meetings_of(timeline);
  return heading(timeline, meetings) + late_comers(meetings) + skews(meetings) + ranks(timeline) + costliest(timeline);
}

}  // namespace tutti::timeline
