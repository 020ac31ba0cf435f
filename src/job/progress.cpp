// SPDX-License-Identifier: BSD-3-Clause
// The probe follows the fixed-workload scheme: what counts is how long work and communication take together. Time
// inside the library's calls would not do, since a thread takes processor time from the work where no call sees it.
#include "job/progress.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "job/runtime.hpp"

namespace tutti::job {
namespace {

constexpr double shortest_work = 100e-6, longest_work = 5e-3;
/// 256 KiB go through the areas of the board in several steps, between which somebody has to look.
constexpr std::size_t elements = 32768;

double seconds_since(std::uint64_t start) { return static_cast<double>(base::now() - start) * 1e-9; }

/// Work that touches no memory: turns of a generator of numbers.
void work(std::uint64_t turns) {
  volatile std::uint64_t kept = 0;
  std::uint64_t value = turns;
  for (std::uint64_t i = 0; i < turns; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  kept = value;
  static_cast<void>(kept);
}

template <class Function>
double timed(Function&& function) {
  const std::uint64_t start = base::now();
  function();
  return seconds_since(start);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// So many turns take so long as the call does, or as much of it as a probe may take; the same on all ranks.
std::uint64_t turns_for(const Probed& world) {
  std::vector<double> calls, turns;
  constexpr std::uint64_t some = 20000;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(timed([&] { world.start(), world.wait(); }));
    turns.push_back(timed([] { work(some); }));
  }
  const double wanted = std::clamp(world.slowest(median(calls)), shortest_work, longest_work);
  return static_cast<std::uint64_t>(wanted / world.slowest(median(turns)) * some) + 1;
}

std::size_t won(const Probe& probe) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < probe.with.size(); ++i) count += probe.with[i] < probe.without[i] ? 1 : 0;
  return count;
}

}  // namespace

bool gains(const Probe& probe) {
  return won(probe) >= least_won && median(probe.with) <= (1 - least_gain) * median(probe.without);
}

std::string describe(const Probe& probe) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "%.0f us of work and an allreduce of 256 KiB take %.0f us with one, %.0f us without; it won %zu of %zu "
                "rounds, and has to win %zu and save %.0f %%",
                probe.work * 1e6, median(probe.with) * 1e6, median(probe.without) * 1e6, won(probe), probe.with.size(),
                least_won, least_gain * 100);
  return text.data();
}

Probe probe(const Probed& world) {
  const std::uint64_t turns = turns_for(world);
  std::vector<double> alone;
  Probe found;
  const auto both = [&](bool thread) {
    world.thread(thread);
    world.slowest(0);
    const double took = timed([&] {
      world.start();
      work(turns);
      world.wait();
    });
    (thread ? found.with : found.without).push_back(world.slowest(took));
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    // Now one first, now the other: what changes while the probe runs hits both.
    both(round % 2 == 1);
    both(round % 2 == 0);
    world.thread(false);
    world.slowest(0);
    alone.push_back(world.slowest(timed([&] { work(turns); })));
  }
  found.work = median(alone);
  return found;
}

namespace {

Call allreduce(const double* in, double* out, std::size_t count, Op op) {
  Call call;
  call.kind = Kind::allreduce;
  call.input = in;
  call.output = out;
  call.type = Type::float64;
  call.element = sizeof(double);
  call.count = static_cast<Count>(count);
  call.reduction = {op, true, nullptr, nullptr};
  return call;
}

}  // namespace

void Member::decide_on_progress_thread(ProgressThread wanted) {
  engine::Engine& engine = runtime_->engine();
  const auto decide = [&](bool on, const std::string& why) {
    if (on) engine.start_progress_thread();
    runtime_->say_progress((on ? "a thread: " : "no thread: ") + why);
  };
  if (wanted == ProgressThread::off)
    return decide(false, "calls move requests on; TUTTI_PROGRESS_THREAD=auto probes one");
  if (who().world.size() == 1) return decide(false, "a world of one waits for nobody");
  if (wanted == ProgressThread::on) return decide(true, "TUTTI_PROGRESS_THREAD=on");
  std::vector<double> in(elements), out(elements);
  const Call large = allreduce(in.data(), out.data(), elements, Op::sum);
  Request request;
  const Probe found = probe({
      .start = [&] { request = start(large); },
      .wait = [&] { finish(std::move(request)); },
      .thread = [&](bool on) { on ? engine.start_progress_thread() : engine.stop_progress_thread(); },
      .slowest =
          [&](double mine) {
            double all = 0;
            run(allreduce(&mine, &all, 1, Op::max));
            return all;
          },
  });
  decide(gains(found), describe(found));
  if (channel_->rank() == 0) base::log("progress: " + runtime_->progress());
}

}  // namespace tutti::job
