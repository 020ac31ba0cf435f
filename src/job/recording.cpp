// SPDX-License-Identifier: BSD-3-Clause
#include "job/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "base/log.hpp"
#include "base/proc.hpp"
#include "job/clocks.hpp"
#include "symbols/sites.hpp"
#include "trace/merge.hpp"
#include "trace/next_call.hpp"
#include "trace/parts.hpp"
#include "tutti/trace.hpp"

namespace tutti::job {
namespace {

/// How long a rank that ends waits for the others.
constexpr std::chrono::seconds clock_patience{10};

trace::Recorder* of_process = nullptr;  // of the world, which stays for ever

std::uint64_t capacity_from_environment() {
  const char* const text = std::getenv("TUTTI_TRACE_EVENTS");
  if (text == nullptr || *text == '\0') return trace::Recorder::Options().capacity;
  char* end = nullptr;
  const unsigned long long events = std::strtoull(text, &end, 10);
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (*end != '\0' || *text == '-' || events < trace::Recorder::block || events > most)
    throw Error(Cause::usage, std::string("TUTTI_TRACE_EVENTS=") + text + " is no number of events from " +
                                  std::to_string(trace::Recorder::block) + " to " + std::to_string(most));
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

}  // namespace

std::unique_ptr<Recording> Recording::wanted(std::uint64_t job, Rank rank, const std::vector<Rank>& hosts) {
  const char* const file = std::getenv("TUTTI_TRACE");
  if (file == nullptr || *file == '\0') return nullptr;
  // Absolute: a program may change its folder.
  return std::unique_ptr<Recording>(
      new Recording(std::filesystem::absolute(file).string(), job, rank, hosts, capacity_from_environment()));
}

Recording::Recording(std::string file, std::uint64_t job, Rank rank, std::vector<Rank> hosts, std::uint64_t capacity)
    : file_(std::move(file)),
      job_(job),
      hosts_(std::move(hosts)),
      leaders_(leaders_of(hosts_)),
      recorder_({.path = trace::part_of(file_, job, rank),
                 .job = job,
                 .rank = rank,
                 .size = static_cast<int>(hosts_.size()),
                 .host = hosts_[static_cast<std::size_t>(rank)],
                 .capacity = capacity}) {
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

void Recording::synchronise(Member& world) {
  if (leaders_.size() < 2 || !std::ranges::binary_search(leaders_, world.channel().rank())) return;
  ClockMessages messages(world, leaders_, clock_patience);
  const std::vector<measure::Moment> moments =
      measure::synchronise(messages, measure::monotonic(), measure::Scheme::tree);
  if (moments.empty()) return;
  const std::string_view text(reinterpret_cast<const char*>(moments.data()), moments.size() * sizeof(measure::Moment));
  recorder_.note(trace::Word::moments, 0, text);
}

void Recording::begin(Member& world) { synchronise(world); }

void Recording::name_sites() {
  symbols::Sites sites(getpid());
  std::set<std::uint64_t> named{0};
  for (const trace::Event& event : recorder_.events())
    if (event.site < trace::places && named.insert(event.site).second)
      recorder_.note(trace::Word::site, event.site, sites.name(event.site));
}

void Recording::give(ClockMessages& messages) {
  const bool near = hosts_[static_cast<std::size_t>(messages.rank())] == hosts_[0];
  const std::vector<std::byte> bytes = near ? std::vector<std::byte>() : trace::compact(recorder_.path());
  const std::uint64_t length = bytes.size();
  messages.send(0, std::as_bytes(std::span(&length, 1)));
  if (near) return;
  messages.send(0, bytes);
  std::byte written{};
  messages.recv(0, {&written, 1});
  std::error_code error;
  std::filesystem::remove(recorder_.path(), error);
}

/// Rank 0 reads the parts of its own host's ranks itself, and tells the others when theirs are not needed any more.
void Recording::gather(ClockMessages& messages) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 38;
  std::vector<trace::Record> records{trace::read_record(recorder_.path())};
  std::vector<std::string> read{recorder_.path()};
  std::vector<Rank> far;
  for (Rank rank = 1; rank < messages.size(); ++rank) {
    std::uint64_t length = 0;
    messages.recv(rank, std::as_writable_bytes(std::span(&length, 1)));
    if (length > longest) throw Error(Cause::system, "rank " + std::to_string(rank) + " sends a record without an end");
    if (length == 0) {
      read.push_back(trace::part_of(file_, job_, rank));
      records.push_back(trace::read_record(read.back()));
      continue;
    }
    std::vector<std::byte> bytes(length);
    messages.recv(rank, bytes);
    records.push_back(trace::parse(bytes));
    far.push_back(rank);
  }
  trace::write_timeline(file_, std::move(records), algorithm_name);
  trace::remove_parts(read);
  for (const Rank rank : far) messages.send(rank, std::array<std::byte, 1>());
}

void Recording::end(Member& world) noexcept {
  ended_ = true;
  try {
    name_sites();
    synchronise(world);
    recorder_.finish();
    std::vector<Rank> all(hosts_.size());
    std::iota(all.begin(), all.end(), 0);
    ClockMessages messages(world, all, clock_patience);
    messages.rank() == 0 ? gather(messages) : give(messages);
  } catch (const std::exception& error) {
    recorder_.finish();
    try {
      if (world.channel().rank() == 0)
        base::log("the trace is in parts, beside " + file_ + ", which `tutti trace --merge " + file_ +
                  "` puts together: " + error.what());
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
