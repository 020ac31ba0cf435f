// SPDX-License-Identifier: BSD-3-Clause
// tutti-small: what an 8-byte allreduce costs here, beside what the machine can do at best. Run it as
//     tutti run -n 4 tutti-small [--hogs K] [--seconds S]
// Rank 0 prints the floor, the processor time of a rank that waits one second in a barrier, and for each form of the
// call nanoseconds per call (run time / calls; median, best and worst batch) beside those of the blocking form.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "floor.hpp"
#include "host/topology.hpp"
#include "launcher/binding.hpp"
#include "tutti/tutti.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int hogs = 0;
  double seconds = 1;
};

[[noreturn]] void turn_for_ever() {
  volatile unsigned turns = 0;
  for (;;) turns = turns + 1;
}

/// Busy processes that belong to nobody's job; ended with the object.
class Hogs {
 public:
  /// Throws when the system allows no more of them. Those that are there are ended then, too: the object is whole
  /// before the first of them is.
  explicit Hogs(int count) : Hogs() {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) turn_for_ever();
      if (pid < 0) throw std::runtime_error("cannot start a busy process; lower --hogs, or raise ulimit -u");
      pids_.push_back(pid);
    }
  }
  ~Hogs() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  Hogs() = default;

  std::vector<pid_t> pids_;
};

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

/// The ways to call it.
constexpr std::array<const char*, 3> forms{"blocking", "start + wait", "persistent start + wait"};
using Batches = std::array<std::vector<double>, forms.size()>;

/// Nanoseconds per call of one batch of calls of a form, by this rank's clock.
double batch(const tutti::Group& world, std::size_t form) {
  const int calls = 500;
  const auto expected = static_cast<double>(world.size()) * (world.size() + 1) / 2;
  double mine[1], all[1];
  tutti::Persistent again = world.allreduce_init(mine, all, tutti::sum);
  world.barrier();
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    mine[0] = world.rank() + 1.0 + i;
    if (form == 0) {
      world.allreduce(mine, all, tutti::sum);
    } else if (form == 1) {
      world.iallreduce(mine, all, tutti::sum).wait();
    } else {
      again.start();
      again.wait();
    }
    if (all[0] != expected + static_cast<double>(i) * world.size()) throw std::runtime_error("allreduce is wrong");
  }
  return nanoseconds(Clock::now() - start) / calls;
}

/// Batches of all forms in turn; the slowest rank's time of each.
Batches allreduce(const tutti::Group& world, double seconds) {
  Batches batches;
  const auto begin = Clock::now();
  for (int go_on = 1; go_on != 0;) {
    for (std::size_t form = 0; form < forms.size(); ++form) {
      double time[1] = {batch(world, form)};
      world.allreduce(time, time, tutti::max);
      batches[form].push_back(time[0]);
    }
    int more[1] = {nanoseconds(Clock::now() - begin) < seconds * 1e9 ? 1 : 0};
    world.bcast(more);  // rank 0's clock decides for all
    go_on = more[0];
  }
  for (auto& of_form : batches) std::sort(of_form.begin(), of_form.end());
  return batches;
}

double processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
}

/// Milliseconds of processor time of the rank that used most, while the last rank came a second late.
double idle(const tutti::Group& world) {
  world.barrier();
  const double before = processor_time();
  if (world.rank() == world.size() - 1) std::this_thread::sleep_for(std::chrono::seconds(1));
  world.barrier();
  double used[1] = {world.rank() == world.size() - 1 ? 0 : processor_time() - before};
  world.allreduce(used, used, tutti::max);
  return used[0];
}

struct Floor {
  double time;
  std::string what;
};

/// The others sleep in a barrier meanwhile.
Floor floor_for(int ranks) {
  const tutti::host::Cores cores = tutti::host::usable_cores();
  const int count = std::max(1, std::min(cores.usable, static_cast<int>(cores.list.size())));
  const std::vector<int> order = tutti::launcher::binding_order(cores.list);
  const int first = order.front(), second = order.size() > 1 ? order[1] : first;
  if (ranks <= count) return {tutti::bench::line_one_way(first, second).median(), "one way"};
  const int per_core = (ranks + count - 1) / count;
  const double hand_over = tutti::bench::yield_hand_over(first, per_core).median();
  return {hand_over * (per_core - 1), std::to_string(per_core - 1) + " hand-overs"};
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--hogs") == 0)
      options.hogs = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--seconds") == 0)
      options.seconds = std::atof(argv[i + 1]);
    else
      throw std::runtime_error(std::string(argv[i]) + " is not known; use --hogs K, --seconds S");
  }
  return options;
}

void run(const Options& options) {
  const tutti::Group world = tutti::world();
  Floor floor{1, ""};
  if (world.rank() == 0 && world.size() > 1) floor = floor_for(world.size());
  world.barrier();
  const Hogs hogs(world.rank() == 0 ? options.hogs : 0);
  const Batches batches = allreduce(world, options.seconds);
  const double waited = options.hogs == 0 && world.size() > 1 ? idle(world) : 0;
  if (world.rank() != 0) return;
  const double blocking = batches[0][batches[0].size() / 2];
  std::printf("ranks %2d hogs %d: floor %.0f ns (%s), 1 s in a barrier takes %.1f ms of a processor\n", world.size(),
              options.hogs, floor.time, floor.what.c_str(), waited);
  for (std::size_t form = 0; form < forms.size(); ++form) {
    const auto& times = batches[form];
    const double median = times[times.size() / 2];
    std::printf("  %-24s %8.0f ns/call (best %.0f, worst %.0f)  %.2f of blocking  %.2f of the floor\n", forms[form],
                median, times.front(), times.back(), median / blocking, median / floor.time);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-small: %s\n", error.what());
    return 1;
  }
}
