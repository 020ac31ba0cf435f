// SPDX-License-Identifier: BSD-3-Clause
// sick CASE FILE: a job of four ranks that hangs, each case in its own way. In most of them rank 2 is to blame. Those
// that can get well do so when FILE is there (in "io", when something is written into it), and end as they should.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using tutti::Group;

constexpr int sick = 2;
std::string file;
double total = 0;  // what the ranks have summed up, which they print at the end

// The callers' names are what `tutti why` shows: they must stay functions, and their calls must not be their last act.
[[gnu::noinline]] void first_step(const Group& group, int root = 0) {
  std::vector<double> data(3, 1.0);
  group.bcast(data, root);
  total = data.front();
}
[[gnu::noinline]] void second_step(const Group& group, int count = 3) {
  std::vector<double> in(static_cast<std::size_t>(count), group.rank() + 1.0), out(in.size());
  group.allreduce(in, out, tutti::sum);
  total = out.front();
}
[[gnu::noinline]] void get(const Group& group, int from) {
  std::vector<double> data(3);
  group.recv(data, from, 7);
  total = data.front();
}

void await_file() {
  while (access(file.c_str(), F_OK) != 0) usleep(10'000);
}

/// What Tutti finds by itself, when rank 2 comes; the program stays where it is, so that it can be looked at.
void until_it_fails(const Group& world, const std::function<void()>& call) {
  try {
    if (world.rank() == sick) sleep(1);  // the others have called theirs by then
    call();
    std::printf("nothing was found\n");
  } catch (const tutti::Error& error) {
    std::printf("found: %s\n", error.what());
    await_file();
  }
}

void mismatch(const Group& world) {
  until_it_fails(world, [&] {
    world.rank() == sick ? first_step(world) : second_step(world);
    world.barrier();
  });
}

void missing(const Group& world) {
  if (world.rank() != sick) second_step(world);
  pause();
}

void late(const Group& world) {
  if (world.rank() == sick) await_file();
  second_step(world);
}

void dead(const Group& world) {
  until_it_fails(world, [&] {
    if (world.rank() == sick) raise(SIGKILL);
    second_step(world);
  });
}

void stopped(const Group& world) {
  if (world.rank() == sick) raise(SIGSTOP);
  second_step(world);
}

/// Rank 2 begins with the pair, rank 3 with all four; the others wait behind them.
void groups(const Group& world) {
  const std::vector<tutti::Rank> pair{sick, 3};
  const Group all = world.dup(), two = world.subgroup(pair);
  if (world.rank() == sick) second_step(two);
  second_step(all);
  if (world.rank() == 3) second_step(two);
}

/// Rank 2 waits for what rank 1 does not send.
void recv(const Group& world) {
  if (world.rank() == sick) get(world, 1);
  if (world.rank() == 1) {
    await_file();
    world.send(std::vector<double>(3, 4.0), sick, 7);
  }
  second_step(world);
}

void io(const Group& world) {
  char input = 0;
  if (world.rank() == sick && read(open(file.c_str(), O_RDWR | O_CLOEXEC), &input, 1) != 1) _exit(1);
  second_step(world);
}

void root(const Group& world) {
  until_it_fails(world, [&] {
    first_step(world, world.rank() == sick ? 1 : 0);
    world.barrier();
  });
}

void count(const Group& world) {
  until_it_fails(world, [&] { second_step(world, world.rank() == sick ? 4 : 3); });
}

void loop(const Group& world) {
  if (world.rank() == sick)
    while (access(file.c_str(), F_OK) != 0)
      for (volatile int i = 0; i < 1'000'000;) i = i + 1;
  second_step(world);
}

}  // namespace

int main(int words, char** arguments) {
  const std::map<std::string, std::function<void(const Group&)>> cases{
      {"mismatch", mismatch}, {"missing", missing}, {"late", late}, {"dead", dead},
      {"stopped", stopped},   {"groups", groups},   {"recv", recv}, {"io", io},
      {"root", root},         {"count", count},     {"loop", loop},
  };
  const auto found = words == 3 ? cases.find(arguments[1]) : cases.end();
  if (found == cases.end()) return 2;
  file = arguments[2];
  const Group world = tutti::world();
  std::printf("rank %d is %d\n", world.rank(), getpid());
  std::fflush(stdout);  // into a file, too
  first_step(world);
  found->second(world);
  std::printf("rank %d: total %g\n", world.rank(), total);
}
