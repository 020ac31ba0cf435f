// SPDX-License-Identifier: BSD-3-Clause
#include "trace/merge.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/words.hpp"
#include "plan/text.hpp"
#include "trace/file.hpp"
#include "trace/story.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

using base::json::Object;

/// Writes beside the file and puts it there in the end: nobody finds half a trace. What is no plain file (/dev/stdout)
/// is written to at once.
class Writer {
 public:
  Writer(const std::string& file, std::uint64_t job)
      : path_(file), draft_(draft_of(file, job)), out_(draft_.empty() ? file : draft_) {}
  ~Writer() {
    if (!draft_.empty()) std::remove(draft_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void begin(const Object& about) {
    out_ << "{\"displayTimeUnit\": \"ns\", \"otherData\": " << about.text() << ", \"traceEvents\": [";
  }
  void line(const Object& event) { out_ << (std::exchange(first_, false) ? "\n" : ",\n") << event.text(); }
  void end(const std::function<void()>& check) {
    out_ << "\n]}\n" << std::flush;
    check();
    if (!out_ || (!draft_.empty() && std::rename(draft_.c_str(), path_.c_str()) != 0))
      throw Error(Cause::system, "cannot write the trace " + path_ + "; see whether its folder has room");
    draft_.clear();
  }

 private:
  static std::string draft_of(const std::string& file, std::uint64_t job) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::symlink_status(file, error);
    const bool plain = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    // Ranks that end write theirs, while somebody merges what there was of them before.
    return plain ? file + "." + base::hexadecimal(job) + "." + std::to_string(getpid()) + ".draft" : std::string();
  }

  std::string path_, draft_;  // no draft: none is left to remove
  std::ofstream out_;
  bool first_ = true;
};

/// Microseconds, as the format has them.
std::string micro(std::int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}

/// Where an event stands, and when it began.
Object event(const char* phase, int process, int thread, std::int64_t begin) {
  Object object;
  object.add("ph", std::string_view(phase)).add("pid", process).add("tid", thread).raw("ts", micro(begin));
  return object;
}

void name(Writer& writer, const char* what, int process, int thread, const std::string& text, int order) {
  const auto one = [&](const std::string& kind, const Object& about) {
    Object object;
    object.add("ph", std::string_view("M")).add("pid", process).add("tid", thread).add("name", std::string_view(kind));
    writer.line(object.raw("args", about.text()));
  };
  one(std::string(what) + "_name", Object().add("name", std::string_view(text)));
  one(std::string(what) + "_sort_index", Object().add("sort_index", order));
}

/// The threads on which slices lie: each on the first where it is apart from all others, or inside of one.
class Lanes {
 public:
  int place(std::int64_t begin, std::int64_t end) {
    for (std::size_t lane = 0;; ++lane) {
      if (lane == open_.size()) open_.emplace_back();
      std::vector<std::int64_t>& ends = open_[lane];
      while (!ends.empty() && ends.back() <= begin) ends.pop_back();
      if (ends.empty() || end <= ends.back() || lane + 1 == lanes) {
        ends.push_back(end);
        return static_cast<int>(lane);
      }
    }
  }
  std::size_t count() const { return open_.size(); }

 private:
  std::vector<std::vector<std::int64_t>> open_;
};

std::string_view kind_name(std::uint8_t kind) { return name_of(static_cast<Kind>(kind)); }

bool is_rooted(Kind kind) {
  return kind == Kind::bcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::gatherv ||
         kind == Kind::scatter || kind == Kind::scatterv;
}

std::string verb_name(const Event& event) {
  const auto last = static_cast<std::uint8_t>(plan::Verb::release);
  return event.kind <= last ? std::string(plan::word(static_cast<plan::Verb>(event.kind))) : "unknown";
}

std::string title(const Slice& slice) {
  const Event& event = *slice.event;
  const std::string peer = event.peer >= 0 ? " " + std::to_string(event.peer) : event.what == What::step ? " all" : "";
  switch (event.what) {
    case What::call:
      return (event.form == Form::request ? "i" : "") + std::string(kind_name(event.kind));
    case What::wait:
      return "wait";
    case What::message:
      return verb_name(event) + peer;
    case What::step: {
      const auto verb = static_cast<plan::Verb>(event.kind);
      const bool alone = verb == plan::Verb::copy || verb == plan::Verb::reduce || verb == plan::Verb::publish ||
                         verb == plan::Verb::release;
      return verb_name(event) + (alone ? "" : peer);
    }
    case What::none:
      break;
  }
  return "unknown";
}

std::string category(What what) {
  switch (what) {
    case What::call:
      return "collective";
    case What::message:
      return "message";
    case What::step:
      return "step";
    case What::wait:
      return "wait";
    case What::none:
      break;
  }
  return "unknown";
}

Object details(const Slice& slice, std::string_view (*algorithm)(std::int32_t)) {
  const Event& event = *slice.event;
  Object about;
  about.add("group", slice.group);
  about.maybe("context", slice.size > 0, std::string_view(base::hexadecimal(slice.context)));
  about.add("number", event.sequence).add("bytes", event.bytes);
  if (event.what == What::call) {
    about.add("rank", slice.rank).add("size", slice.size).add("late_ns", slice.late).add("waiting_ns", slice.waiting);
    if (event.algorithm >= 0) about.add("algorithm", algorithm(event.algorithm));
    if (is_rooted(static_cast<Kind>(event.kind))) about.add("root", event.peer);
  }
  if (event.what != What::step) about.add("site", std::string_view(slice.site));
  if (slice.stands_for > 1) about.add("stands_for", slice.stands_for);
  if (event.what == What::call || event.what == What::message) about.add("blocking", event.form == Form::blocking);
  if (event.what == What::message) about.add("tag", event.message);
  if (event.outcome == Outcome::pending) about.add("unfinished", true);
  if (event.outcome == Outcome::failed) about.add("failed", true);
  return about;
}

int process_of(const Record& record) { return record.host + 1; }
int thread_of(const Record& record, int lane) { return record.rank * lanes + lane; }

/// Both ends of a message have it in common; equal ones match in order.
using MessageKey = std::tuple<std::uint64_t, std::uint64_t, Rank, Rank, std::uint32_t>;
struct End {
  int process = 0, thread = 0;
  std::int64_t begin = 0, end = 0;
};
struct Ends {
  std::deque<End> sent, received;
};
using Messages = std::map<MessageKey, Ends>;

void collect(Messages& messages, const Slice& slice, const End& end) {
  const Event& event = *slice.event;
  const auto verb = static_cast<plan::Verb>(event.kind);
  const bool sends = verb == plan::Verb::send, receives = plan::receives(verb);
  if ((event.what != What::step && event.what != What::message) || (!sends && !receives) || slice.size == 0) return;
  const std::uint64_t sequence = event.what == What::step ? event.sequence + 1 : 0;
  const Rank from = sends ? slice.rank : event.peer, to = sends ? event.peer : slice.rank;
  Ends& ends = messages[{slice.context, sequence, from, to, event.message}];
  (sends ? ends.sent : ends.received).push_back(end);
}

void write_arrows(Writer& writer, const Messages& messages) {
  std::uint64_t number = 0;
  for (const auto& [key, ends] : messages) {
    for (std::size_t i = 0; i < std::min(ends.sent.size(), ends.received.size()); ++i, ++number) {
      const End &from = ends.sent[i], &to = ends.received[i];
      const auto arrow = [&](const char* phase, const End& end, std::int64_t time) {
        Object object = event(phase, end.process, end.thread, time);
        object.add("id", number).add("name", std::string_view("message")).add("cat", std::string_view("message"));
        if (*phase == 'f') object.add("bp", std::string_view("e"));
        writer.line(object);
      };
      arrow("s", from, from.begin);
      arrow("f", to, std::max(to.end, from.begin));
    }
  }
}

void write_part(Writer& writer, const Part& part, std::string_view (*algorithm)(std::int32_t), Messages& messages) {
  Lanes used;
  const Record& record = *part.record;
  for (const Slice& slice : part.slices) {
    const int process = process_of(record), thread = thread_of(record, used.place(slice.begin, slice.end));
    Object object = event("X", process, thread, slice.begin);
    object.raw("dur", micro(slice.end - slice.begin)).add("name", std::string_view(title(slice)));
    object.add("cat", std::string_view(category(slice.event->what)));
    writer.line(object.raw("args", details(slice, algorithm).text()));
    collect(messages, slice, {process, thread, slice.begin, slice.end});
  }
  for (std::size_t lane = 0; lane < std::max<std::size_t>(1, used.count()); ++lane) {
    std::string text = "rank " + std::to_string(record.rank);
    if (lane > 0) text += " +" + std::to_string(lane);
    const int thread = thread_of(record, static_cast<int>(lane));
    name(writer, "thread", process_of(record), thread, text, thread);
  }
}

/// The three phases of a broadcast (Siebert, Efficient Broadcast for Multicast-Capable Interconnection Networks, 2006):
/// until the root comes nothing can be done, until the last rank comes not everything, then all.
void write_phases(Writer& writer, const Story& story, int process) {
  struct Group {
    int number = 0;
    std::string_view name;
    Lanes lanes;
  };
  std::map<std::uint64_t, Group> groups;  // by context: several may have one name
  std::vector<std::pair<std::uint64_t, const Meeting*>> meetings;
  for (const auto& [key, meeting] : story.meetings) meetings.emplace_back(key.first, &meeting);
  // A group's broadcasts need not begin in the order of their numbers, which lanes rely on.
  std::ranges::stable_sort(meetings, {}, [](const auto& entry) { return entry.second->begin; });
  for (const auto& [context, met] : meetings) {
    const Meeting& meeting = *met;
    const auto root = std::ranges::find(meeting.ranks, meeting.root, &Meeting::Presence::rank);
    if (static_cast<Kind>(meeting.kind) != Kind::bcast || root == meeting.ranks.end()) continue;
    const std::int64_t last = std::ranges::max_element(meeting.ranks, {}, &Meeting::Presence::begin)->begin;
    const std::int64_t end = std::ranges::max_element(meeting.ranks, {}, &Meeting::Presence::end)->end;
    Group& group = groups.try_emplace(context, Group{static_cast<int>(groups.size()), meeting.group, {}}).first->second;
    const int thread = group.number * lanes + group.lanes.place(meeting.begin, end);
    const auto phase = [&](const char* text, std::int64_t from, std::int64_t to) {
      Object object = event("X", process, thread, from);
      object.raw("dur", micro(to - from)).add("name", std::string_view(text)).add("cat", std::string_view("phase"));
      Object about;
      about.add("group", meeting.group).add("context", std::string_view(base::hexadecimal(context)));
      writer.line(object.raw("args", about.add("number", meeting.sequence).text()));
    };
    phase("startup", meeting.begin, root->begin);
    phase("intermediate", root->begin, last);
    phase("final", last, std::max(last, end));
  }
  if (groups.empty()) return;
  name(writer, "process", process, 0, "phases of broadcasts", process);
  for (const auto& [context, group] : groups)
    for (std::size_t lane = 0; lane < group.lanes.count(); ++lane) {
      const int thread = group.number * lanes + static_cast<int>(lane);
      name(writer, "thread", process, thread, "group " + std::string(group.name), thread);
    }
}

Object about(const Story& story, const std::vector<Record>& records) {
  const char* const qualities[] = {"compared at start and end", "compared at the start alone", "not compared",
                                   "of unknown speed"};
  Object object;
  std::uint64_t dropped = 0, nameless = 0;
  std::int64_t error = 0;
  for (const Record& record : records) {
    dropped += record.dropped;
    nameless += record.nameless;
  }
  for (const Part& part : story.parts) error = std::max(error, part.clock_error);
  object.add("tutti", file_version)
      .add("job", std::string_view(base::hexadecimal(records.front().job)))
      .add("ranks", records.front().size)
      .add("dropped", dropped)
      .add("nameless", nameless);
  const bool several = std::ranges::any_of(records, [](const Record& record) { return record.host > 0; });
  const Times::Quality quality = story.times.quality();
  const bool without_rate = quality == Times::Quality::without_rate;
  object.add("clocks", several || without_rate ? std::string_view(qualities[static_cast<int>(quality)]) : "one");
  object.maybe("clock_error_ns", quality < Times::Quality::unknown, several ? error : 0);
  const auto rank = [](const Record& record) {
    Object one;
    one.add("rank", record.rank).add("host", record.host).add("pid", record.pid).add("finished", record.finished);
    one.add("recording", record.recording);
    return one.add("dropped", record.dropped).text();
  };
  return object.raw("of_ranks", base::json::array(records, rank));
}

}  // namespace

void write_timeline(const std::string& file, std::vector<Record> records, std::string_view (*algorithm)(std::int32_t),
                    const std::function<void()>& check) {
  if (records.empty()) throw Error(Cause::system, "there is nothing to make the trace " + file + " of");
  std::ranges::sort(records, {}, &Record::rank);
  const Story story(records);
  Writer writer(file, records.front().job);
  writer.begin(about(story, records));
  int hosts = 0;
  for (const Record& record : records) hosts = std::max(hosts, record.host + 1);
  std::set<Rank> named;
  Messages messages;
  for (const Part& part : story.parts) {
    const Record& record = *part.record;
    if (named.insert(record.host).second)
      name(writer, "process", process_of(record), 0, "host " + std::to_string(record.host) + ": " + record.host_name,
           process_of(record));
    write_part(writer, part, algorithm, messages);
    Object clock = event("C", process_of(record), thread_of(record, 0), 0);
    clock.add("name", std::string_view("clock error of rank " + std::to_string(record.rank)));
    if (hosts > 1 && story.times.quality() < Times::Quality::unknown)
      writer.line(clock.raw("args", Object().raw("us", micro(part.clock_error)).text()));
  }
  write_arrows(writer, messages);
  write_phases(writer, story, hosts + 1);
  writer.end(check);
}

}  // namespace tutti::trace
