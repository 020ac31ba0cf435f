// SPDX-License-Identifier: BSD-3-Clause
#include "host/usage.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace tutti::host {

Usage usage(const Segment& segment, int cores, std::uint64_t now) {
  cpu_set_t mine, theirs;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
  Usage found{now, 0, std::clamp(CPU_COUNT(&mine), 1, cores)};
  const auto add = [&](pid_t pid) {
    timespec time;
    // How the kernel numbers the processor clock of a process. Of a process that it does not show nothing is known.
    const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3 | 2u);
    if (clock_gettime(clock, &time) != 0) return;
    found.processor +=
        static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
  };
  const pid_t self = getpid();
  add(self);
  for (Rank rank = 0; rank < segment.size(); ++rank) {
    const Process& process = segment.process(rank);
    // Acquire: whoever is seen alive has written its pid.
    if (process.life.load(std::memory_order_acquire) != Life::alive || process.pid == self) continue;
    if (sched_getaffinity(process.pid, sizeof theirs, &theirs) != 0) continue;
    CPU_AND(&theirs, &theirs, &mine);
    if (CPU_COUNT(&theirs) != 0) add(process.pid);
  }
  return found;
}

bool gets_its_cores(const Usage& before, const Usage& now) {
  constexpr double fair_share = 0.8;
  if (now.processor < before.processor) return true;
  const auto could = static_cast<double>(now.time - before.time) * now.cores;
  return static_cast<double>(now.processor - before.processor) >= fair_share * could;
}

}  // namespace tutti::host
