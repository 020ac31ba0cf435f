// SPDX-License-Identifier: BSD-3-Clause
// Files of ranks: what was noted is read back, and what is broken does no harm.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <thread>

#include "plan/plan.hpp"
#include "trace/merge.hpp"
#include "trace/parts.hpp"
#include "trace/recorder.hpp"
#include "trace/story.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

class Records : public ::testing::Test {
 protected:
  Records() : folder_(std::filesystem::temp_directory_path() / ("tutti-trace-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~Records() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Ten calls, with a name for each place.
  std::string recorded() const {
    const std::string file = path("part");
    Recorder recorder({.path = file, .rank = 1, .size = 3, .host = 2, .capacity = 64});
    Track track(recorder, 77, "1 3 my world");
    for (std::uint64_t i = 0; i < 10; ++i) {
      Event& event = *track.take();
      event.begin = base::ticks();
      event.sequence = i;
      event.site = reinterpret_cast<std::uint64_t>(recorder.place("line " + std::to_string(i % 2)));
      event.group = track.group();
      event.kind = static_cast<std::uint8_t>(Kind::barrier);
      event.what = What::call;
      event.end = base::ticks();
    }
    recorder.finish();
    return file;
  }

 private:
  std::filesystem::path folder_;
};

void expect_ten_calls(const Record& record) {
  EXPECT_EQ(record.rank, 1);
  EXPECT_EQ(record.size, 3);
  EXPECT_EQ(record.host, 2);
  EXPECT_EQ(record.pid, getpid());
  EXPECT_TRUE(record.finished);
  EXPECT_EQ(record.dropped, 0u);
  ASSERT_EQ(record.events.size(), 10u);
  const std::vector<Record> records{record};
  const Story story(records);
  std::uint64_t number = 0;
  for (const Slice& slice : story.parts.at(0).slices) {
    EXPECT_EQ(slice.context, 77u);
    EXPECT_EQ(slice.group, "my world");
    EXPECT_EQ(slice.rank, 1);
    EXPECT_EQ(slice.size, 3);
    EXPECT_EQ(slice.event->sequence, number);
    EXPECT_EQ(slice.site, "line " + std::to_string(number++ % 2));
    EXPECT_LE(slice.begin, slice.end);
  }
}

TEST_F(Records, AreReadBackAsTheyWereWritten) {
  const std::string file = recorded();
  expect_ten_calls(read_record(file));
  const std::vector<std::byte> small = compact(file);
  EXPECT_LT(small.size(), 10'000u);
  expect_ten_calls(parse(small));
}

TEST_F(Records, CountWhatHasNoRoom) {
  Recorder recorder({.path = path("full"), .capacity = 64});
  Track one(recorder, 0, ""), other(recorder, 1, "");
  int taken = 0;
  for (int i = 0; i < 50; ++i) taken += (one.take() != nullptr ? 1 : 0) + (other.take() != nullptr ? 1 : 0);
  EXPECT_EQ(taken, 64);
  EXPECT_EQ(recorder.take(1), nullptr);
  const std::string too_much(std::size_t{2} << 20, 'x');
  recorder.note(Word::command, 0, too_much);
  const Record record = read_record(recorder.path());
  EXPECT_EQ(record.dropped, 36u + 1u);
  EXPECT_EQ(record.nameless, 1u);
}

TEST_F(Records, AreRefusedWhenTheyAreNone) {
  for (const std::size_t size : {0, 1, 4095, 4096, 100'000}) {
    const std::vector<std::byte> nothing(size);
    EXPECT_THROW(parse(nothing), Error) << size;
  }
  const std::vector<std::byte> whole = compact(recorded());
  for (std::size_t size = 0; size < whole.size(); size += 61)
    EXPECT_THROW(parse(std::span(whole).first(size)), Error) << size;
  EXPECT_THROW(read_record(path("none")), Error);
}

/// What bears the name of a part may be anything.
TEST_F(Records, AreRefusedWhereTheyAreNoFiles) {
  const std::string pipe = path("pipe"), huge = path("huge");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(read_record(pipe), Error);
  std::ofstream(huge) << "no record";
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 42);  // takes no room, but would be read
  EXPECT_THROW(read_record(huge), Error);
  EXPECT_THROW(compact(huge), Error);
  EXPECT_THROW(read_record(std::filesystem::temp_directory_path()), Error);
}

TEST_F(Records, SurviveAnyDamage) {
  const std::vector<std::byte> whole = compact(recorded());
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> broken = whole;
    for (int i = 0; i < 8; ++i) {
      // The header, whose numbers are what is dangerous, as often as all the rest.
      const std::size_t end = random() % 2 == 0 ? sizeof(Header) : broken.size();
      broken[random() % end] = static_cast<std::byte>(random());
    }
    try {
      const std::vector<Record> records{parse(broken)};
      const Story story(records);
    } catch (const Error&) {
      continue;
    }
  }
}

/// Hosts whose clocks are 1 s apart and drift by 50 us a second, and counters of other speeds.
TEST(Times, BringHostsTogether) {
  const auto clock = [](std::int64_t time) { return time + 1'000'000'000 + std::llround(time * 50e-6); };
  std::vector<Record> records(2);
  std::string begin, end;
  for (const std::int64_t time : {10'000'000'000, 110'000'000'000}) {
    const measure::Moment moments[] = {{}, {clock(time), time, 500}};
    (begin.empty() ? begin : end).assign(reinterpret_cast<const char*>(moments), sizeof moments);
  }
  records[0].notes = {{Word::moments, 0, begin}, {Word::moments, 0, end}};
  records[0].first = {3'000, 10'000'000'000};
  records[0].last = {300'000'003'000, 110'000'000'000};
  records[1].rank = records[1].host = 1;
  const auto start = static_cast<std::uint64_t>(clock(10'000'000'000)),
             stop = static_cast<std::uint64_t>(clock(110'000'000'000));
  records[1].first = {70, start};
  records[1].last = {70 + 2 * (stop - start), stop};
  const Times times(records);
  EXPECT_EQ(times.quality(), Times::Quality::exact);
  EXPECT_EQ(times.at(records[0], 3'000 + 3'000'000), 10'001'000'000);
  const std::int64_t shown = clock(60'000'000'000) - static_cast<std::int64_t>(start);
  EXPECT_NEAR(times.at(records[1], 70 + 2 * static_cast<std::uint64_t>(shown)), 60'000'000'000, 2);
  EXPECT_NEAR(times.error(records[1], 70 + 2 * static_cast<std::uint64_t>(shown)), 500, 5);

  records[0].notes.pop_back();
  EXPECT_EQ(Times(records).quality(), Times::Quality::without_drift);
  records[0].notes.clear();
  EXPECT_EQ(Times(records).quality(), Times::Quality::unknown);
  records[1].last = records[1].first;
  EXPECT_EQ(Times(records).quality(), Times::Quality::unknown) << "nothing is told by the counter that is not known";
  records[1].events.emplace_back();
  EXPECT_EQ(Times(records).quality(), Times::Quality::without_rate);
}

/// The parts of the last host are lost; those of the others lie on one timeline all the same.
TEST(Times, DoNotNeedTheLastHost) {
  const measure::Moment moments[] = {{}, {5'000, 2'000, 3}, {9'000, 2'000, 3}};
  const std::string text(reinterpret_cast<const char*>(moments), sizeof moments);
  std::vector<Record> records(2);
  records[1].rank = records[1].host = 1;
  records[0].notes = {{Word::moments, 0, text}, {Word::moments, 0, text}};
  const Times times(records);
  EXPECT_EQ(times.quality(), Times::Quality::exact);
  EXPECT_EQ(times.at(records[1], 5'100), 2'100);
  // Another number of hosts cannot be.
  records[0].notes[1].text.resize(2 * sizeof(measure::Moment));
  EXPECT_EQ(Times(records).quality(), Times::Quality::without_drift);
}

/// Groups that note nothing are very many in some programs.
TEST_F(Records, NameGroupsWithTheirFirstEvent) {
  Recorder recorder({.path = path("groups"), .capacity = 64});
  const std::string long_name(std::size_t{1} << 16, 'x');
  for (std::uint64_t context = 0; context < 100; ++context) const Track silent(recorder, context, long_name);
  Track track(recorder, 100, "0 1 last");
  Event& event = *track.take();
  event.begin = base::ticks();
  event.group = track.group();
  event.what = What::call;
  const std::vector<Record> records{read_record(recorder.path())};
  EXPECT_EQ(records[0].nameless, 0u);
  EXPECT_EQ(Story(records).parts[0].slices.at(0).group, "last");
}

TEST_F(Records, HaveRoomForTheNamesOfAllGroups) {
  Recorder recorder({.path = path("many"), .capacity = std::uint64_t{1} << 18});
  const std::string text(1000, 'x');
  for (int i = 0; i < 2000; ++i) recorder.note(Word::place, 0, text);
  EXPECT_EQ(read_record(recorder.path()).nameless, 0u);
}

/// What another process still writes to is not touched.
TEST_F(Records, AreNewFilesEachTime) {
  Recorder one({.path = path("same"), .job = 1, .capacity = 64});
  ASSERT_NE(one.take(3), nullptr);
  const Recorder other({.path = path("same"), .job = 2, .rank = 1, .size = 2, .capacity = 128});
  EXPECT_EQ(one.events().size(), 3u);
  EXPECT_EQ(read_record(other.path()).job, 2u);
}

TEST_F(Records, LeaveNothingWhereThereIsNoRoom) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{std::size_t{1} << 20, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(Recorder({.path = path("large")}), Error);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  EXPECT_FALSE(std::filesystem::exists(path("large")));
}

/// A rank whose times are nonsense does not take the others' away.
TEST_F(Records, AreMergedWithoutDamagedOnes) {
  const std::string file = path("trace.json");
  for (const Rank rank : {0, 1, 2, 4}) {
    Recorder recorder({.path = part_of(file, 5, rank), .job = 5, .rank = rank, .size = 5, .capacity = 64});
    Event& event = *recorder.take(1);
    event.begin = rank == 1 ? ~std::uint64_t{0} / 4 * 3 : base::ticks();
    event.what = What::call;
    if (rank != 4) continue;
    event.end = event.begin + (std::uint64_t{1} << 50);  // days, of each of more calls than anybody makes
    event.sequence = std::uint64_t{1} << 40;
  }
  std::filesystem::rename(part_of(file, 5, 2), part_of(file, 5, 3));
  const auto name = [](std::int32_t) { return std::string_view(); };
  EXPECT_EQ(merge_parts(file, name), std::vector{part_of(file, 5, 0)});
  EXPECT_THROW(merge_parts(file, name), Error) << "it is there by now";
  remove_parts({part_of(file, 5, 0)});
  EXPECT_EQ(merge_parts(file, name), std::nullopt);
  for (const Rank rank : {1, 4}) EXPECT_TRUE(std::filesystem::exists(part_of(file, 5, rank)));
}

/// Nothing is taken from a rank that still records, and the trace is made again when it has ended.
TEST_F(Records, StayWhileARankRecords) {
  const std::string file = path("trace.json");
  const auto name = [](std::int32_t) { return std::string_view(); };
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<std::string> all;
  for (const Rank rank : {0, 1, 2}) {
    all.push_back(part_of(file, 5, rank));
    const Recorder::Options options{.path = all.back(), .job = 5, .rank = rank, .size = 3, .capacity = 64};
    Event& event = *recorders.emplace_back(std::make_unique<Recorder>(options))->take(1);
    event.begin = base::ticks();
    event.algorithm = 0;
    event.what = What::call;
  }
  recorders[0]->finish();
  recorders[2].reset();  // it has died
  // Of this job: to look for the newest opens and closes a part, with which this very process would lose its lock.
  EXPECT_EQ(merge_parts(file, name, 5), std::vector<std::string>());
  EXPECT_TRUE(std::ranges::all_of(all, [](const std::string& part) { return std::filesystem::exists(part); }));
  recorders.clear();
  EXPECT_EQ(merge_parts(file, name), all);
  EXPECT_THROW(merge_parts(file, name), Error) << "it is whole by now";
  // Somebody else has written it when all that is to stand there has been looked at.
  std::filesystem::remove(file);
  static std::string other;
  other = file;
  EXPECT_THROW(merge_parts(file, [](std::int32_t) { return std::ofstream(other) << "whole", std::string_view(); }),
               Error);
  std::string text;
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "whole");
}

/// What a rank that dies has left: its counter was read when it took room for events, and while it waited.
TEST_F(Records, TellTheSpeedOfTheCounterBeforeTheyEnd) {
  Recorder recorder({.path = path("begun"), .capacity = 64});
  const Record fresh = read_record(recorder.path());
  EXPECT_EQ(fresh.last.ticks, fresh.first.ticks);
  Track track(recorder, 0, "");
  ASSERT_NE(track.take(), nullptr);
  const Record begun = read_record(recorder.path());
  EXPECT_GT(begun.last.ticks, begun.first.ticks);
  EXPECT_GT(begun.last.nanoseconds, begun.first.nanoseconds);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  recorder.read_again();
  const Record later = read_record(recorder.path());
  EXPECT_GE(later.last.nanoseconds, begun.last.nanoseconds + 60'000'000);
  EXPECT_FALSE(later.finished);
}

/// Two ranks that wait and move: what was moved is no waiting.
TEST(Story, TakesWhatWasMovedFromTheWaiting) {
  const auto event = [](What what, plan::Verb verb, std::uint64_t begin, std::uint64_t end) {
    Event made;
    made.what = what;
    made.kind = static_cast<std::uint8_t>(verb);
    made.begin = begin;
    made.end = end;
    return made;
  };
  std::vector<Record> records(1);
  records[0].size = 1;
  records[0].notes = {{Word::group, 5, "0 1 world"}};
  records[0].events = {event(What::step, plan::Verb::recv, 100, 180), event(What::step, plan::Verb::copy, 150, 170),
                       event(What::step, plan::Verb::await, 160, 200), event(What::call, plan::Verb::send, 90, 300)};
  const Story story(records);
  ASSERT_EQ(story.parts[0].slices.size(), 4u);
  EXPECT_EQ(story.parts[0].slices[0].event->what, What::call);
  EXPECT_EQ(story.parts[0].slices[0].begin, 0);
  EXPECT_EQ(story.parts[0].slices[0].waiting, 80);
  EXPECT_EQ(story.meetings.size(), 1u);
}

/// Two groups of one name, in which broadcasts overlap, and one of which began its second first.
TEST_F(Records, HavePhasesOfEachGroupOnThreadsOfItsOwn) {
  std::vector<Record> records(1);
  records[0].size = 1;
  records[0].notes = {{Word::group, 5, "0 1 twin"}, {Word::group, 6, "0 1 twin"}};
  const auto bcast = [&](std::uint32_t group, std::uint64_t sequence, std::uint64_t begin, std::uint64_t end) {
    Event event;
    event.what = What::call;
    event.kind = static_cast<std::uint8_t>(Kind::bcast);
    event.peer = 0;
    event.group = group;
    event.sequence = sequence;
    event.begin = begin;
    event.end = end;
    records[0].events.push_back(event);
  };
  bcast(0, 1, 1'000, 9'000);
  bcast(1, 2, 2'000, 3'000);
  bcast(1, 1, 4'000, 5'000);
  const std::string file = path("trace.json");
  write_timeline(file, records, [](std::int32_t) { return std::string_view(); });
  std::map<std::string, std::set<std::string>> threads;  // by context
  std::ifstream trace(file);
  const std::regex phase("\"tid\": ([0-9]+).*\"cat\": \"phase\".*\"context\": \"([0-9a-f]+)\"");
  std::smatch found;
  for (std::string line; std::getline(trace, line);)
    if (std::regex_search(line, found, phase)) threads[found[2]].insert(found[1]);
  const std::map<std::string, std::set<std::string>> wanted{{"0000000000000005", {"0"}}, {"0000000000000006", {"64"}}};
  EXPECT_EQ(threads, wanted);
}

/// Whatever a part says: as many calls of one number take no longer than others. (Pair by pair: half a minute.)
TEST(Story, MeetsManyCallsOfOneNumber) {
  std::vector<Record> records(1);
  records[0].size = 1;
  records[0].notes = {{Word::group, 5, "0 1 world"}};
  Event event;
  event.what = What::call;
  for (event.begin = 1; event.begin < 150'000; ++event.begin) {
    event.end = event.begin + 1;
    records[0].events.push_back(event);
  }
  const auto start = std::chrono::steady_clock::now();
  const Story story(records);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  EXPECT_EQ(story.parts[0].slices.back().late, 149'998);
}

/// Calls of groups whose names had no room did not meet each other.
TEST(Story, LeavesUnknownGroupsOutOfMeetings) {
  std::vector<Record> records(2);
  for (const Rank rank : {0, 1}) {
    Record& record = records[static_cast<std::size_t>(rank)];
    record.rank = rank;
    record.size = 2;
    Event event;
    event.what = What::call;
    event.group = 9;
    event.begin = 100 + static_cast<std::uint64_t>(rank) * 1000;
    event.end = event.begin + 10;
    record.events = {event};
  }
  const Story story(records);
  EXPECT_TRUE(story.meetings.empty());
  EXPECT_EQ(story.parts[1].slices.at(0).late, 0);
}

}  // namespace
}  // namespace tutti::trace
