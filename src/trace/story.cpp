// SPDX-License-Identifier: BSD-3-Clause
#include "trace/story.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <tuple>

#include "plan/plan.hpp"
#include "symbols/sites.hpp"
#include "tutti/call.hpp"

namespace tutti::trace {
namespace {

struct Group {
  std::uint64_t context = 0;
  Rank rank = 0;
  int size = 0;
  std::string_view name;
};

Group group_of(const Record::Note& note) {
  Group group;
  group.context = note.key;
  std::istringstream text(note.text);
  text >> group.rank >> group.size;
  const auto at = text.tellg();
  if (at >= 0)
    group.name = std::string_view(note.text).substr(std::min(note.text.size(), static_cast<std::size_t>(at) + 1));
  return group;
}

/// The words of one rank, as its events refer to them.
class Words {
 public:
  explicit Words(const Record& record) : record_(record), files_(modules_of(record)) {
    for (const Record::Note& note : record.notes)
      if (note.kind == Word::site) sites_[note.key] = note.text;
  }

  Group group(const Event& event) const {
    const bool known = event.group < record_.notes.size() && record_.notes[event.group].kind == Word::group;
    return known ? group_of(record_.notes[event.group]) : Group{.name = "unknown"};
  }
  /// A rank that died has not named its sites: the files that it ran say.
  std::string site(std::uint64_t address) {
    if (address >= places) {
      const std::uint64_t number = address - places;
      return number < record_.notes.size() ? record_.notes[number].text : std::string();
    }
    const auto found = sites_.find(address);
    return found != sites_.end() ? found->second : sites_[address] = files_.name(address);
  }

 private:
  static std::string modules_of(const Record& record) {
    const Record::Note* note = record.find(Word::modules);
    return note == nullptr ? std::string() : note->text;
  }

  const Record& record_;
  symbols::Sites files_;
  std::map<std::uint64_t, std::string> sites_;
};

using Interval = std::pair<std::int64_t, std::int64_t>;

/// How much of time the intervals cover.
std::int64_t covered(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  std::int64_t sum = 0, until = std::numeric_limits<std::int64_t>::min();
  for (const auto& [begin, end] : intervals) {
    sum += std::max<std::int64_t>(0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return sum;
}

bool moves(const Event& step) { return plan::moves(static_cast<plan::Verb>(step.kind)); }

/// What calls waited for is what their steps did, without moving anything at the same time.
void add_waiting(std::vector<Slice>& slices) {
  struct Steps {
    std::vector<Interval> moving, all;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Steps> steps;
  for (const Slice& slice : slices) {
    if (slice.event->what != What::step) continue;
    Steps& of = steps[{slice.event->group, slice.event->sequence}];  // which a group without a word has, too
    of.all.emplace_back(slice.begin, slice.end);
    if (moves(*slice.event)) of.moving.emplace_back(slice.begin, slice.end);
  }
  for (Slice& slice : slices) {
    const auto found = steps.find({slice.event->group, slice.event->sequence});
    if (slice.event->what == What::call && found != steps.end())
      slice.waiting = covered(found->second.all) - covered(found->second.moving);
  }
}

Part tell(const Record& record, const Times& times) {
  Part part;
  part.record = &record;
  Words words(record);
  const std::uint64_t end = latest(record);
  for (const Event& event : record.events) {
    const Group group = words.group(event);
    Slice slice;
    std::tie(slice.begin, slice.end) = times.ends(record, event, end);
    slice.event = &event;
    slice.context = group.context;
    slice.group = group.name;
    slice.stands_for = stands_for(event);
    slice.rank = group.rank;
    slice.size = group.size;
    if (event.what != What::step) slice.site = words.site(event.site);
    part.slices.push_back(std::move(slice));
    part.clock_error = std::max(part.clock_error, times.error(record, event.begin));
  }
  std::ranges::sort(part.slices, [](const Slice& a, const Slice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  add_waiting(part.slices);
  return part;
}

}  // namespace

Story::Story(const std::vector<Record>& records) : times(records) {
  for (const Record& record : records) parts.push_back(tell(record, times));
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Part& part : parts)
    if (!part.slices.empty()) first = std::min(first, part.slices.front().begin);
  for (Part& part : parts) {
    for (Slice& slice : part.slices) {
      slice.begin -= first;
      slice.end -= first;
    }
  }
  meet();
}

void Story::meet() {
  const auto meets = [](const Slice& slice) { return slice.event->what == What::call && slice.size > 0; };
  for (const Part& part : parts) {
    for (const Slice& slice : part.slices) {
      if (!meets(slice)) continue;
      Meeting& meeting = meetings[{slice.context, slice.event->sequence}];
      meeting.group = slice.group;
      meeting.sequence = slice.event->sequence;
      meeting.size = slice.size;
      meeting.root = slice.event->peer;
      meeting.kind = slice.event->kind;
      meeting.begin = std::min(meeting.begin, slice.begin);
      meeting.ranks.push_back({part.record->rank, slice.rank, slice.begin, slice.end});
    }
  }
  for (Part& part : parts) {
    for (Slice& slice : part.slices) {
      if (meets(slice)) slice.late = slice.begin - meetings.at({slice.context, slice.event->sequence}).begin;
    }
  }
}

}  // namespace tutti::trace
