// SPDX-License-Identifier: BSD-3-Clause
// A program for tests of launching. Its arguments are steps, done in order: `verb`, `verb=text`; `2/verb=text` is for
// rank 2 alone, whose number is the launcher's until it has joined. It ends with status 5 when a step throws, after
// printing why.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "host/board.hpp"
#include "launch/environment.hpp"
#include "launch/member.hpp"

namespace {

using namespace tutti;

std::optional<launch::Member> member;
launch::Patience patience;

void sleep_for(const std::string& seconds) {
  const double time = std::strtod(seconds.c_str(), nullptr);
  const timespec pause{static_cast<time_t>(time),
                       static_cast<long>((time - static_cast<double>(static_cast<time_t>(time))) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
}

void write_last(const std::string& kind) {
  auto& last = member->segment()->process(member->rank()).last;
  last.context.store(0x6c1f, std::memory_order_relaxed);
  last.sequence.store(12, std::memory_order_relaxed);
  last.kind.store(static_cast<std::uint32_t>(std::atoi(kind.c_str())), std::memory_order_relaxed);
  last.running.store(1, std::memory_order_relaxed);
}

void write_world(const std::string&) {
  auto& last = member->segment()->process(member->rank()).last;
  last.context.store(host::world_context(member->job()), std::memory_order_relaxed);
  last.running.store(0, std::memory_order_relaxed);
}

void put(const std::string& text) {
  const std::size_t end = text.find(':');
  member->put(text.substr(0, end), std::as_bytes(std::span(text).subspan(end + 1)), patience);
}

void get(const std::string& key) {
  launch::Patience patience;
  // Some tests ask for what never comes.
  if (key.starts_with("missing")) patience.timeout = std::chrono::milliseconds(50);
  const auto value = member->get(key, patience);
  std::printf("%s\n", std::string(reinterpret_cast<const char*>(value.data()), value.size()).c_str());
}

/// Waits until this rank sees another one dead.
void await_death(const std::string& rank) {
  while (member->segment()->probe(std::atoi(rank.c_str())) != host::Life::dead) usleep(1000);
}

/// Lines in several pieces, so that a careless launcher tears them.
void chatter(const std::string& lines) {
  for (int i = 0; i < std::atoi(lines.c_str()); ++i) {
    for (const char* piece : {"this ", "is ", "one ", "line"}) {
      std::fputs(piece, stdout);
      std::fflush(stdout);
    }
    std::fputs("\n", stdout);
  }
}

void print_hosts(const std::string&) {
  std::string text;
  for (const Rank host : member->hosts()) text += " " + std::to_string(host);
  std::printf("rank %d: job %016llx, hosts%s, segment of %d\n", member->rank(),
              static_cast<unsigned long long>(member->job()), text.c_str(), member->segment()->size());
}

void meet(const std::string& name) {
  const std::string mine = name + "-" + std::to_string(member->rank());
  member->put(mine, {});
  for (Rank rank = 0; rank < member->size(); ++rank) member->get(name + "-" + std::to_string(rank));
}

/// Writes into this rank's place of the segment, and reads what the neighbours wrote into theirs.
void read_neighbors(const std::string&) {
  std::vector<Rank> neighbors;
  for (Rank rank = 0; rank < member->size(); ++rank)
    if (member->hosts()[static_cast<std::size_t>(rank)] == member->hosts()[static_cast<std::size_t>(member->rank())])
      neighbors.push_back(rank);
  const auto place = static_cast<Rank>(std::ranges::find(neighbors, member->rank()) - neighbors.begin());
  auto& segment = *member->segment();
  // The meeting orders what is written before it and what is read after it.
  segment.process(place).last.sequence.store(1000 + static_cast<std::uint64_t>(member->rank()),
                                             std::memory_order_relaxed);
  meet("written");
  std::string text;
  for (Rank i = 0; i < static_cast<Rank>(neighbors.size()); ++i) {
    const bool alive = segment.probe(i) == host::Life::alive;
    text += " " + std::to_string(segment.process(i).last.sequence.load(std::memory_order_relaxed)) + (alive ? "" : "!");
  }
  std::printf("rank %d reads%s\n", member->rank(), text.c_str());
  meet("read");
}

void wait_until(const std::string& seconds) {
  const double left = std::strtod(seconds.c_str(), nullptr) - static_cast<double>(base::now()) / 1e9;
  if (left > 0) sleep_for(std::to_string(left));
}

void print_time(const std::string& what) {
  std::printf("%s %.6f\n", what.c_str(), static_cast<double>(base::now()) / 1e9);
}

void fork_and_hold(const std::string& seconds) {
  if (fork() != 0) return;
  sleep_for(seconds);
  _exit(0);
}

/// A process in a session of its own, which nobody can find before this rank has ended: nothing says whose it is.
void fork_hidden(const std::string&) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  char word = 'h';
  const bool child = fork() == 0;
  close(ends[child ? 0 : 1]);
  if (!child) {
    if (read(ends[0], &word, 1) != 1) std::abort();
    return;  // the other end stays open as long as this process lives
  }
  setsid();
  char* const secret = std::getenv(launch::secret_variable);
  if (secret == nullptr) std::abort();
  const std::string kept = secret;
  std::ranges::fill_n(secret, static_cast<std::ptrdiff_t>(kept.size()), '-');
  if (write(ends[1], &word, 1) == 1 && read(ends[1], &word, 1) <= 0) std::ranges::copy(kept, secret);
  sleep_for("1000");
  _exit(0);
}

/// The process goes on in another thread.
void end_main_thread(const std::string& seconds) {
  std::thread(sleep_for, seconds).detach();
  syscall(SYS_exit, 0);
}

/// The launcher answers nobody for so long.
void stop_launcher(const std::string& seconds) {
  const pid_t launcher = getppid();
  kill(launcher, SIGSTOP);
  if (fork() != 0) return;
  sleep_for(seconds);
  kill(launcher, SIGCONT);
  _exit(0);
}

const std::map<std::string_view, void (*)(const std::string&)> verbs{
    {"join", [](const std::string&) { member.emplace(launch::join(patience)); }},
    {"leave", [](const std::string&) { member->leave(); }},
    {"say", [](const std::string& text) { std::printf("%s\n", text.c_str()); }},
    {"who", [](const std::string&) { std::printf("%d of %d\n", member->rank(), member->size()); }},
    {"hosts", print_hosts},
    {"launcher", [](const std::string&) { std::printf("%s\n", member->launcher().c_str()); }},
    {"files",
     [](const std::string&) {
       rlimit files{};
       getrlimit(RLIMIT_NOFILE, &files);
       std::printf("%llu open files\n", static_cast<unsigned long long>(files.rlim_cur));
     }},
    {"cores", [](const std::string&) { std::printf("%d cores\n", member->cores()); }},
    {"meet", meet},
    {"neighbors", read_neighbors},
    {"time", print_time},
    {"until", wait_until},
    {"patience",
     [](const std::string& seconds) { patience.timeout = std::chrono::seconds(std::atoi(seconds.c_str())); }},
    {"sleep", sleep_for},
    {"exit", [](const std::string& code) { std::fflush(nullptr), _exit(std::atoi(code.c_str())); }},
    {"kill", [](const std::string& number) { kill(getpid(), std::atoi(number.c_str())); }},
    {"ignore", [](const std::string& number) { std::signal(std::atoi(number.c_str()), SIG_IGN); }},
    // As the kernel does with a process that ends: its locks go before others can be told how it ended.
    {"drop-lock", [](const std::string&) { close(member->segment()->descriptor()); }},
    {"last", write_last},
    {"world", write_world},
    {"put", put},
    {"get", get},
    {"await-death", await_death},
    {"chatter", chatter},
    {"fork", fork_and_hold},
    {"fork-hidden", fork_hidden},
    {"end-main-thread", end_main_thread},
    {"stop-launcher", stop_launcher},
};

int run(int count, char** arguments) {
  const char* told = nullptr;
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "TUTTI_RANK"})
    if (const char* value = std::getenv(name)) told = value;
  for (int i = 1; i < count; ++i) {
    std::string_view step = arguments[i];
    if (const std::size_t slash = step.find('/'); slash != step.npos && slash < step.find('=')) {
      const std::string rank = member ? std::to_string(member->rank()) : told == nullptr ? "" : told;
      if (step.substr(0, slash) != rank) continue;
      step.remove_prefix(slash + 1);
    }
    const std::size_t end = std::min(step.find('='), step.size());
    verbs.at(step.substr(0, end))(std::string(step.substr(std::min(end + 1, step.size()))));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 5;
  }
}
