// SPDX-License-Identifier: BSD-3-Clause
// A program for the launcher's tests. Its arguments are steps, done in order: `verb`, `verb=text`; `2/verb=text` is for
// rank 2 alone. It ends with status 5 when a step throws, after printing why.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "launch/member.hpp"

namespace {

using namespace tutti;

std::optional<launch::Member> member;

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
  // As job::world_context makes it.
  last.context.store(base::combine(member->job(), 0x776f726c64), std::memory_order_relaxed);
  last.running.store(0, std::memory_order_relaxed);
}

void put(const std::string& text) {
  const std::size_t end = text.find(':');
  member->put(text.substr(0, end), std::as_bytes(std::span(text).subspan(end + 1)));
}

void get(const std::string& key) {
  launch::Patience patience;
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

void fork_and_hold(const std::string& seconds) {
  if (fork() != 0) return;
  sleep_for(seconds);
  _exit(0);
}

const std::map<std::string_view, void (*)(const std::string&)> verbs{
    {"join", [](const std::string&) { member.emplace(launch::join()); }},
    {"leave", [](const std::string&) { member->leave(); }},
    {"say", [](const std::string& text) { std::printf("%s\n", text.c_str()); }},
    {"who", [](const std::string&) { std::printf("%d of %d\n", member->rank(), member->size()); }},
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
};

int run(int count, char** arguments) {
  const char* rank = std::getenv("TUTTI_RANK");
  for (int i = 1; i < count; ++i) {
    std::string_view step = arguments[i];
    if (const std::size_t slash = step.find('/'); slash != step.npos && slash < step.find('=')) {
      if (rank == nullptr || step.substr(0, slash) != rank) continue;
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
