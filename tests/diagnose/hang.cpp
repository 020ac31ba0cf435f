// SPDX-License-Identifier: BSD-3-Clause
// hang CASE: a program that hangs, in ways that are not among the twelve of sick/sick.cpp.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using tutti::Group;

std::vector<double> in(3, 1.0), out(3);

// The callers' names are what the test looks for: they must stay functions, and their calls must not be their last act.
std::atomic<int> calls{0};

[[gnu::noinline]] void second_step(const Group& group) {
  group.allreduce(in, out, tutti::sum);
  ++calls;
}
[[gnu::noinline]] void get(const Group& group, int from, std::uint32_t tag) {
  group.recv(out, from, tag);
  ++calls;
}
[[gnu::noinline]] void put(const Group& group, int to) {
  group.send(std::vector<double>(1 << 18), to, 5);
  ++calls;
}
[[gnu::noinline]] void put_column(const Group& group, int to) {
  const std::vector<double> pairs(1 << 19);
  group.send(tutti::View(pairs, tutti::Layout::of<double>().strided(1 << 18, 1, 2)), to, 5);
  ++calls;
}

void sleep_on() {
  for (;;) pause();
}
void run_on() {
  for (;;) ++calls;
}

[[gnu::noinline]] void halo(const Group& group) {
  tutti::PlanBuilder plan("halo", group.rank(), group.size(), {.in = 3, .out = 3});
  plan.send((group.rank() + 1) % group.size(), plan.in());
  plan.recv((group.rank() + group.size() - 1) % group.size(), plan.out());
  group.run(plan.commit(), in, out);
  ++calls;
}

void plan(const Group& world) {
  if (world.rank() != 1) halo(world);
  sleep_on();
}

void calls_on(const Group& world) {
  try {
    for (;;) second_step(world);
  } catch (const tutti::Error&) {
    sleep_on();
  }
}

void no_receiver(const Group& world) {
  if (world.rank() == 0) put(world, 1);
  sleep_on();
}

void no_receiver_of_a_column(const Group& world) {
  if (world.rank() == 0) put_column(world, 1);
  sleep_on();
}

void both_receive(const Group& world) { get(world, 1 - world.rank(), 7 + static_cast<std::uint32_t>(world.rank())); }

void unfinished(const Group& world) {
  static std::vector<double> much(1 << 18), sum(1 << 18);
  tutti::Request request = world.iallreduce(much, sum, tutti::sum, {.algorithm = "ring"});
  if (world.rank() == 1) run_on();
  request.wait();
}

[[gnu::noinline]] void ask(const Group& world) { calls += world.agree(true) ? 1 : 0; }
[[gnu::noinline]] void go_on(const Group& world) { calls += world.shrink().size(); }
[[gnu::noinline]] void halve(const Group& world) { calls += world.split(world.rank() % 2).size(); }
[[gnu::noinline]] void fold(const Group& world) { calls += tutti::cartesian(world, {world.size()}).size(); }

template <auto make, int missing>
void all_but(const Group& world) {
  if (world.rank() != missing) make(world);
  sleep_on();
}

void agree_beside_a_call(const Group& world) {
  if (world.rank() == 0) ask(world);
  second_step(world);
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void(const Group&)>> cases{
      {"calls", calls_on},
      {"plan", plan},
      {"no_receiver", no_receiver},
      {"no_receiver_of_a_column", no_receiver_of_a_column},
      {"both_receive", both_receive},
      {"unfinished", unfinished},
      {"sleep", [](const Group&) { sleep_on(); }},
      {"agree", all_but<ask, 1>},
      {"shrink", all_but<go_on, 0>},
      {"split", all_but<halve, 1>},
      {"cartesian", all_but<fold, 1>},
      {"mixed", agree_beside_a_call},
  };
  if (count != 2) return 2;
  const char* const rank = std::getenv("TUTTI_RANK");
  if (std::string(arguments[1]) == "absent") {
    if (rank != nullptr && std::string(rank) == "1") sleep_on();
    second_step(tutti::world());
    return 0;
  }
  const auto found = cases.find(arguments[1]);
  if (found == cases.end()) return 2;
  found->second(tutti::world());
}
