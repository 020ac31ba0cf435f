// SPDX-License-Identifier: BSD-3-Clause
#include "job/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/proc.hpp"
#include "job/clocks.hpp"
#include "job/settings.hpp"
#include "symbols/sites.hpp"
#include "trace/merge.hpp"
#include "trace/next_call.hpp"
#include "trace/parts.hpp"
#include "tutti/trace.hpp"

namespace tutti::job {
namespace {

constexpr std::uint64_t recording_context = 0x7265636f7264;  // tells its group from those that are split off

trace::Recorder* of_process = nullptr;  // of the world, which stays for ever

std::uint64_t capacity_from_environment() {
  const char* const text = std::getenv("TUTTI_TRACE_EVENTS");
  if (text == nullptr || *text == '\0') return trace::Recorder::Options().capacity;
  char* end = nullptr;
  const unsigned long long events = std::strtoull(text, &end, 10);
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (*end != '\0' || *text == '-' || events < trace::Recorder::block || events > most)
    throw Error(Cause::usage, std::string("TUTTI_TRACE_EVENTS=") + text + " is no number of events from " +
                                  std::to_string(trace::Recorder::block) + " to " + std::to_string(most) +
                                  "; give one, or unset it for the usual number");
  return (events + trace::Recorder::block - 1) / trace::Recorder::block * trace::Recorder::block;
}

/// Of /proc/self/maps, what can be run: it names the sites of a rank that dies.
std::string modules() {
  std::istringstream maps(base::read_text(base::proc(getpid(), "maps")));
  std::string modules;
  for (std::string line; std::getline(maps, line);)
    if (line.find(" r-xp ") != line.npos && line.find('/') != line.npos) modules += line + "\n";
  return modules;
}

/// Without a board: it is for messages alone, and nobody has to be asked for it.
std::shared_ptr<Member> group_like(Member& world) {
  engine::Membership made = world.who();
  made.context = base::combine(made.context, recording_context);
  made.name += "/recording";
  made.board = 0;
  made.of_tutti = true;
  return std::make_shared<Member>(world.shared_runtime(), std::move(made));
}

void send_number(ClockMessages& messages, Rank to, std::uint64_t number) {
  messages.send(to, std::as_bytes(std::span(&number, 1)));
}

/// A long record in messages, for each of which there is the same patience.
template <class Byte, class Pass>
void in_pieces(std::span<Byte> bytes, Pass pass) {
  constexpr std::size_t most = std::size_t{1} << 20;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(most, bytes.size())))
    pass(bytes.first(std::min(most, bytes.size())));
}

}  // namespace

std::unique_ptr<Recording> Recording::wanted(std::uint64_t job, Rank rank, const std::vector<Rank>& hosts) {
  const char* const file = std::getenv("TUTTI_TRACE");
  if (file == nullptr || *file == '\0') return nullptr;
  // Absolute: a program may change its folder.
  return std::unique_ptr<Recording>(new Recording(std::filesystem::absolute(file).string(), job, rank, hosts,
                                                  capacity_from_environment(),
                                                  Duration(trace_patience_from_environment())));
}

Recording::Recording(std::string file, std::uint64_t job, Rank rank, std::vector<Rank> hosts, std::uint64_t capacity,
                     Duration patience)
    : file_(std::move(file)),
      job_(job),
      hosts_(std::move(hosts)),
      leaders_(leaders_of(hosts_)),
      recorder_({.path = trace::part_of(file_, job, rank),
                 .job = job,
                 .rank = rank,
                 .size = static_cast<int>(hosts_.size()),
                 .host = hosts_[static_cast<std::size_t>(rank)],
                 .capacity = capacity}),
      patience_(patience) {
  describe();
  of_process = &recorder_;
}

Recording::~Recording() {
  of_process = nullptr;
  std::error_code error;
  if (!ended_) std::filesystem::remove(recorder_.path(), error);
}

void Recording::describe() {
  std::string command = base::read_text(base::proc(getpid(), "cmdline"));
  std::ranges::replace(command, '\0', ' ');
  recorder_.note(trace::Word::command, 0, command);
  recorder_.note(trace::Word::modules, 0, modules());
}

void Recording::synchronise() {
  if (leaders_.size() < 2 || !std::ranges::binary_search(leaders_, group_->channel().rank())) return;
  ClockMessages among_leaders(*group_, leaders_, patience_);
  const std::vector<measure::Moment> moments =
      measure::synchronise(among_leaders, measure::monotonic(), measure::Scheme::tree);
  if (moments.empty()) return;
  const std::string_view text(reinterpret_cast<const char*>(moments.data()), moments.size() * sizeof(measure::Moment));
  recorder_.note(trace::Word::moments, 0, text);
}

void Recording::begin(Member& world) {
  group_ = group_like(world);
  synchronise();
}

void Recording::name_sites() {
  symbols::Sites sites(getpid());
  std::set<std::uint64_t> named{0};
  for (const trace::Event& event : recorder_.events())
    if (event.site < trace::places && named.insert(event.site).second)
      recorder_.note(trace::Word::site, event.site, sites.name(event.site));
}

bool Recording::is_near(Rank rank) const { return hosts_[static_cast<std::size_t>(rank)] == hosts_[0]; }

ClockMessages Recording::messages(std::optional<Duration> patience) const {
  std::vector<Rank> all(hosts_.size());
  std::iota(all.begin(), all.end(), 0);
  return {*group_, std::move(all), patience};
}

void Recording::give() {
  ClockMessages brief = messages(patience_);
  if (is_near(brief.rank())) return send_number(brief, 0, 0);
  std::byte here{};
  brief.recv(0, {&here, 1});
  send_record();
}

/// Rank 0 is there, and may be busy with other ranks' records for long. It comes to an end, for it waits for none of
/// them for ever: then it asks for this one, or it is gone, or has broken the group.
void Recording::send_record() {
  ClockMessages patient = messages({});
  const std::vector<std::byte> bytes = trace::compact(recorder_.path());
  send_number(patient, 0, bytes.size());
  in_pieces(std::span(bytes), [&](std::span<const std::byte> some) { patient.send(0, some); });
  std::byte written{};
  patient.recv(0, {&written, 1});
  std::error_code error;
  std::filesystem::remove(recorder_.path(), error);
}

/// Rank 0 reads the parts of its own host's ranks itself, and tells the others when theirs are not needed any more.
void Recording::gather() {
  constexpr std::uint64_t longest = std::uint64_t{1} << 38;
  ClockMessages others = messages(patience_);
  const auto tell_far = [&] {
    for (Rank rank = 1; rank < others.size(); ++rank)
      if (!is_near(rank)) others.send(rank, std::array<std::byte, 1>());
  };
  tell_far();
  std::vector<trace::Record> records{trace::read_record(recorder_.path())};
  std::vector<std::string> read{recorder_.path()};
  for (Rank rank = 1; rank < others.size(); ++rank) {
    std::uint64_t length = 0;
    others.recv(rank, std::as_writable_bytes(std::span(&length, 1)));
    if (length > longest) throw Error(Cause::system, "rank " + std::to_string(rank) + " sends a record without an end");
    if (is_near(rank)) {
      read.push_back(trace::part_of(file_, job_, rank));
      records.push_back(trace::read_record(read.back()));
      continue;
    }
    std::vector<std::byte> bytes(length);
    in_pieces(std::span(bytes), [&](std::span<std::byte> some) { others.recv(rank, some); });
    records.push_back(trace::parse(bytes));
  }
  trace::write_timeline(file_, std::move(records), algorithm_name);
  written_ = true;
  trace::remove_parts(read);
  tell_far();
}

void Recording::say_what_there_is(const char* why) const {
  const std::string text =
      written_
          ? "the trace is in " + file_ + "; ranks on other hosts may leave parts beside it, which can be removed: "
          : "the trace is in parts, beside " + file_ + ", which `tutti trace --merge " + file_ + "` puts together: ";
  base::log(text + why);
}

void Recording::end() noexcept {
  ended_ = true;
  try {
    name_sites();
    if (group_ == nullptr) return recorder_.finish();
    synchronise();
    recorder_.finish();
    group_->channel().rank() == 0 ? gather() : give();
  } catch (const std::exception& error) {
    recorder_.finish();
    try {
      if (group_ == nullptr) return;
      group_->channel().leave_out(Error(Cause::system, error.what()));  // those who wait for this rank without a limit
      if (group_->channel().rank() == 0) say_what_there_is(error.what());
    } catch (const std::exception&) {
      // Without memory for a remark there is none.
    }
  }
}

void Recording::end_alone() noexcept {
  ended_ = true;
  try {
    name_sites();
  } catch (const std::exception&) {
    // Whoever merges names them by the files that this process ran.
  }
  recorder_.finish();
}

}  // namespace tutti::job

namespace tutti {

bool is_recorded() { return job::of_process != nullptr; }

CalledAt::CalledAt(std::string place, bool (*interrupted)()) : place_(std::move(place)) {
  engine::calling_place() = place_;
  engine::interruption() = interrupted;
}
CalledAt::~CalledAt() {
  engine::calling_place() = {};
  engine::interruption() = nullptr;
}

void say_next_call(std::string_view place, bool blocks) {
  if (!is_recorded()) return;
  const void* site = job::of_process->place(std::string(place));
  trace::next_call() = {reinterpret_cast<std::uint64_t>(site), blocks};
}

}  // namespace tutti
