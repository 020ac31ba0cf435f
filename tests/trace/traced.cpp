// SPDX-License-Identifier: BSD-3-Clause
// traced WHAT: a program whose trace is known beforehand.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using tutti::Group;

constexpr std::chrono::milliseconds late{240};

std::vector<double> in(128, 1.0), out(128);

// The callers' names are what the test looks for: they must stay functions, and their calls must not be their last act.
int calls = 0;

[[gnu::noinline]] void add_up(const Group& group) {
  group.allreduce(in, out, tutti::sum);
  ++calls;
}
[[gnu::noinline]] void spread(const Group& group, int root) {
  group.bcast(out, root);
  ++calls;
}
[[gnu::noinline]] void pass_on(const Group& group) {
  if (group.rank() == 0) group.send(in, 1, 7);
  if (group.rank() == 1) group.recv(out, 0, 7);
  ++calls;
}

/// Rank 1 comes late to the third of five allreduces, and is the root of a broadcast that all others wait for.
void known(const Group& world) {
  for (int i = 0; i < 5; ++i) {
    if (i == 2 && world.rank() == 1) std::this_thread::sleep_for(late);
    add_up(world);
  }
  if (world.rank() == 1) std::this_thread::sleep_for(late);
  spread(world, 1);
  auto request = world.iallreduce(in, out, tutti::sum);
  if (world.rank() == 1) std::this_thread::sleep_for(late);
  request.wait();
  if (world.size() > 1) pass_on(world);
  const Group half = world.split(world.rank() % 2, 0);
  add_up(half);
}

void many(const Group& world) {
  for (int i = 0; i < 1000; ++i) add_up(world);
}

/// More than all of them are noted.
void very_many(const Group& world) {
  for (int i = 1; i <= 40000; ++i) {
    if (i % 3 == 0)
      world.iallreduce(in, out, tutti::sum).wait();
    else
      add_up(world);
  }
}

/// Rank 1 dies in the middle.
void killed(const Group& world) {
  add_up(world);
  if (world.rank() == 1) std::raise(SIGKILL);
  add_up(world);
}

[[gnu::noinline]] void decide(const Group& group) {
  group.agree(true);
  ++calls;
}

/// All others wait for rank 1 three times: for any of some requests, for all of them, for its opinion.
void waits(const Group& world) {
  std::vector<double> other(out.size());
  const auto start = [&] {
    if (world.rank() == 1) std::this_thread::sleep_for(late);
    std::vector<tutti::Request> requests;
    requests.push_back(world.iallreduce(in, out, tutti::sum));
    requests.push_back(world.iallreduce(in, other, tutti::sum));
    return requests;
  };
  std::vector<tutti::Request> some = start();
  while (tutti::wait_any(some) < some.size()) continue;
  std::vector<tutti::Request> all = start();
  tutti::wait_all(all);
  if (world.rank() == 1) std::this_thread::sleep_for(late);
  decide(world);
}

/// Groups that have one name, with one call each.
void groups(const Group& world) {
  std::vector<tutti::Rank> all;
  for (tutti::Rank rank = 0; rank < world.size(); ++rank) all.push_back(rank);
  for (int i = 0; i < 3; ++i) add_up(world.create(all));
}

/// Rank 1 leaves an empty file, and dies.
void damaged(const Group& world) {
  add_up(world);
  if (world.rank() != 1) return add_up(world);
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(getenv("TUTTI_TRACE")).parent_path()))
    if (entry.path().string().ends_with(".1.part")) std::filesystem::resize_file(entry.path(), 0);
  std::raise(SIGKILL);
}

/// Goes on until it is killed.
void goes_on(const Group& world) {
  add_up(world);
  std::puts("recorded");
  std::fflush(stdout);
  for (;;) std::this_thread::sleep_for(late);
}

/// Nobody comes to an end. Rank 0 says how far apart two of its calls began.
void all_killed(const Group& world) {
  add_up(world);
  const auto before = std::chrono::steady_clock::now();
  add_up(world);
  std::this_thread::sleep_for(late);
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - before;
  if (world.rank() == 0) std::fprintf(stderr, "apart: %.3f us\n", passed.count());
  add_up(world);
  std::raise(SIGKILL);
}

/// Rank 1 ends early, and the others wait for it in vain.
void missing(const Group& world) {
  add_up(world);
  if (world.rank() != 1) add_up(world);
}

/// So long in all.
void pass_to_and_fro(const Group& group, tutti::Rank other, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (double goes_on = 1; goes_on != 0;) {
    if (group.rank() < other) goes_on = std::chrono::steady_clock::now() < end ? 1 : 0;
    if (group.rank() < other) group.send(std::span(&goes_on, 1), other, 7);
    if (group.rank() > other) group.recv(std::span(&goes_on, 1), other, 7);
    std::this_thread::sleep_for(late / 24);  // few are noted
  }
}

/// Rank 0 has nothing to do, and is no longer waited for when the others have come to their end.
void early(const Group& world) {
  add_up(world);
  if (world.rank() > 0) pass_to_and_fro(world, 3 - world.rank(), 3 * late);
}

/// Each rank but the first two ends later than the one before, not by as much as rank 0 has patience for.
void in_turns(const Group& world) {
  add_up(world);
  if (world.rank() > 1) std::this_thread::sleep_for((world.rank() - 1) * 3 * late);
}

/// Large messages.
void large(const Group& world) {
  std::vector<double> much(1 << 18, world.rank()), all(much.size());
  for (int i = 0; i < 3; ++i) world.allreduce(much, all, tutti::sum);
  world.bcast(all, 0);
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void(const Group&)>> programs{
      {"known", known},      {"many", many},   {"very many", very_many},   {"killed", killed},
      {"missing", missing},  {"large", large}, {"all killed", all_killed}, {"damaged", damaged},
      {"groups", groups},    {"waits", waits}, {"goes on", goes_on},       {"early", early},
      {"in turns", in_turns}};
  const auto program = programs.find(count > 1 ? arguments[1] : "");
  if (program == programs.end()) return 2;
  const Group world = tutti::world();
  try {
    program->second(world);
  } catch (const tutti::Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", world.rank(), error.what());
    return 3;
  }
  return 0;
}
