// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/situation.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

namespace tutti::diagnose {

namespace {

constexpr std::chrono::milliseconds between_looks{100};
/// A waiting rank tells every 20 ms that it still does. One that has not for so long does something else, or is
/// stopped.
constexpr std::uint64_t old = 1'000'000'000;
/// Waits that are younger say nothing.
constexpr std::uint64_t young = 50'000'000;

bool is_old(const Process& process, std::uint64_t told_at, std::uint64_t now) {
  return told_at == 0 || (told_at < now && now - told_at > old) || process.waits.empty();
}

State state_of(const Process& process, const host::Holder& holder, std::uint64_t now) {
  if (process.life == host::Life::absent) return State::absent;
  if (process.life == host::Life::left) return State::left;
  if (process.life == host::Life::dead || !holder.alive) return State::dead;
  // Only a living process holds its lock: nothing is said by a state that cannot be read, nor by Z, which is shown of
  // one whose first thread has ended alone.
  if (holder.state == 'T' || holder.state == 't') return State::stopped;
  if (!is_old(process, process.waited_at, now)) return State::waiting;
  return holder.state == 'R' ? State::running : State::sleeping;
}

bool same(const host::Wait& a, const host::Wait& b) {
  return a.context == b.context && a.sequence == b.sequence && a.what == b.what && a.tag == b.tag &&
         a.since == b.since && a.blocked == b.blocked && std::ranges::equal(a.blockers, b.blockers);
}

/// Who waits in Tutti does so in a function of the MPI that Tutti serves.
bool can_be_in_mpi(State state) {
  return state == State::running || state == State::sleeping || state == State::stopped;
}

Seat look_at(const Process& process, const Process& before, const host::Holder& holder, std::uint64_t now) {
  Seat seat;
  seat.state = state_of(process, holder, now);
  if (seat.state != State::absent) seat.pid = holder.pid;
  const bool frozen = seat.state == State::stopped || seat.state == State::dead;
  if (is_old(process, process.told_at, now) && !frozen) return seat;
  for (const host::Wait& wait : process.waits) {
    const bool there = std::ranges::any_of(before.waits, [&](const host::Wait& other) { return same(wait, other); });
    if (there && (frozen || (wait.since < now && now - wait.since > young))) seat.waits.push_back(wait);
  }
  return seat;
}

}  // namespace

const char* name(State state) {
  constexpr const char* names[] = {"not there yet", "running", "sleeping", "in its MPI", "waiting",    "stopped",
                                   "dead",          "left",    "ended",    "silent",     "unreachable"};
  return names[static_cast<int>(state)];
}

Situation observe(const Source& source, std::int32_t ranks) {
  const Snapshot before = read_snapshot(source, ranks);
  std::this_thread::sleep_for(between_looks);
  Situation situation;
  situation.snapshot = read_snapshot(source, ranks);
  const auto& processes = situation.snapshot.processes;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const host::Holder holder = source.holder(static_cast<Rank>(i));
    const std::uint64_t now = situation.snapshot.taken_at;
    const Process earlier = i < before.processes.size() ? before.processes[i] : Process();
    Seat seat = look_at(processes[i], earlier, holder, now);
    const InMpi& mpi = processes[i].mpi;
    const bool same_call = mpi.call == earlier.mpi.call;
    if (same_call && mpi.call % 2 != 0 && can_be_in_mpi(seat.state)) seat.mpi = mpi;
    if (seat.mpi && seat.state != State::stopped) seat.state = State::in_mpi;
    if (seat.state == State::sleeping) seat.system_call = source.system_call(static_cast<Rank>(i));
    seat.moved = processes[i].called && (processes[i].last_sequence != earlier.last_sequence ||
                                         processes[i].last_context != earlier.last_context);
    situation.moving =
        situation.moving || seat.moved || !same_call || (seat.state == State::waiting && seat.waits.empty());
    situation.seats.push_back(std::move(seat));
  }
  return situation;
}

}  // namespace tutti::diagnose
