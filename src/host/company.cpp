// SPDX-License-Identifier: BSD-3-Clause
// All loads and stores are relaxed: what lies back is asked about, and an answer that is wrong once does no harm.
#include "host/company.hpp"

#include <sched.h>

#include <algorithm>

namespace tutti::host {
namespace {

/// Cores that share a place look like one: then foreign load on one may be taken for a rank's on the other.
std::size_t place_of(int core) { return static_cast<std::size_t>(core) % cores_told_apart; }

}  // namespace

Absence give_core(const Segment& segment, Rank rank, std::uint64_t now) {
  const std::size_t core = place_of(sched_getcpu());
  const std::uint64_t began = segment.process(rank).stretch.began.exchange(0, std::memory_order_relaxed);
  const std::uint64_t stretch = began != 0 && began < now ? now - began : 0;
  std::atomic<std::uint64_t>& used = segment.header().used[core].nanoseconds;
  return {now, core, used.fetch_add(stretch, std::memory_order_relaxed) + stretch};
}

void take_core(const Segment& segment, Rank rank, std::uint64_t now) {
  Process::Stretch& stretch = segment.process(rank).stretch;
  stretch.core.store(static_cast<std::uint32_t>(place_of(sched_getcpu())), std::memory_order_relaxed);
  stretch.began.store(now, std::memory_order_relaxed);
}

bool on_one_core(const Segment& segment, Rank one, Rank other) {
  return segment.process(one).stretch.core.load(std::memory_order_relaxed) ==
         segment.process(other).stretch.core.load(std::memory_order_relaxed);
}

bool was_ours(const Segment& segment, const Absence& absence, std::uint64_t to) {
  std::uint64_t ours = segment.header().used[absence.core].nanoseconds.load(std::memory_order_relaxed) - absence.used;
  for (Rank rank = 0; rank < segment.size(); ++rank) {
    const Process& other = segment.process(rank);
    const std::uint64_t began = other.stretch.began.load(std::memory_order_relaxed);
    if (began != 0 && began < to && other.stretch.core.load(std::memory_order_relaxed) == absence.core &&
        other.life.load(std::memory_order_relaxed) == Life::alive)
      ours += to - std::max(began, absence.from);
  }
  return ours >= (to - absence.from) / 2;
}

}  // namespace tutti::host
