// SPDX-License-Identifier: BSD-3-Clause
// A job's memory after somebody has written into it. Input: how each rank is (a byte for each of the first four, whom
// the others repeat); then what is written: into which part (a byte), where in it (two), how many bytes (one), and
// those.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "diagnose/findings.hpp"
#include "diagnose/snapshot.hpp"
#include "tutti/error.hpp"

namespace {

using namespace tutti;
using namespace tutti::diagnose;

constexpr int ranks = host::Wait::most_blockers + 4;  // more than a wait can list
constexpr std::size_t given = 4;                      // ranks whose state the input says
constexpr int states_known = static_cast<int>(State::unreachable) + 1;
constexpr std::uint64_t job = 77, context = 99;

/// All that a reader relies on.
bool sound(const Snapshot& snapshot) {
  if (snapshot.processes.size() != ranks) return false;
  for (const Process& process : snapshot.processes)
    for (const host::Wait& wait : process.waits)
      if (wait.blocked > ranks || memchr(wait.place, 0, sizeof wait.place) == nullptr) return false;
  for (const Group& group : snapshot.groups) {
    if (group.members.empty() || group.members.size() > ranks) return false;
    for (const Member& member : group.members)
      if (member.world < 0 || member.world >= ranks || !std::ranges::is_sorted(member.calls, {}, &Called::sequence))
        return false;
  }
  return true;
}

/// Whatever was read, something can be said about it.
void judge(const Snapshot& snapshot, std::span<const std::uint8_t> states) {
  Situation situation;
  situation.snapshot = snapshot;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto state = static_cast<State>(states[static_cast<std::size_t>(rank) % given] % states_known);
    Seat& seat = situation.seats.emplace_back();
    seat.state = state;
    seat.pid = 1000 + rank;
    seat.waits = snapshot.processes[static_cast<std::size_t>(rank)].waits;
  }
  const Words words{[](std::int32_t) { return std::string_view("board"); },
                    [](Rank, std::uint64_t) { return std::string(); }};
  const std::vector<Finding> findings = find(situation, words);
  if (findings.empty()) std::abort();
  for (const Finding& finding : findings)
    if (finding.text.empty() || finding.kind.empty()) std::abort();
}

/// A segment with one group, whose ranks wait for the next one each.
std::shared_ptr<host::Segment> make(host::Offset& board) {
  auto segment = host::Segment::create(ranks, job);
  const std::size_t bytes = host::Board::bytes(ranks);
  board = segment->allocate(bytes);
  host::Board::format(segment->at(board, bytes), ranks, context, ranks, "world");
  for (Rank rank = 0; rank < ranks; ++rank) {
    const host::Board view(segment->at(board, bytes), ranks, rank, context);
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence) view.record(rank, sequence).sequence.store(sequence + 1);
    host::Wait wait;
    wait.context = context;
    wait.sequence = 3;
    wait.awaited = 1;
    wait.add((rank + 1) % ranks);
    segment->process(rank).waits.tell(std::array{wait}, 1000, true);
  }
  return segment;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < given) return 0;
  host::Offset board = 0;
  const auto segment = make(board);
  const host::BoardLayout layout(ranks);
  const host::Offset processes = segment->header().processes;
  const std::array places{host::Offset{0},
                          processes,
                          processes + 2 * sizeof(host::Process),
                          board,
                          board + layout.identity,
                          board + layout.records,
                          segment->header().heap};
  std::span<const std::uint8_t> rest(data + given, size - given);
  while (rest.size() >= 4) {
    const host::Offset place = places[rest[0] % places.size()] + rest[1] + rest[2] * std::size_t{256};
    const std::size_t length = std::min<std::size_t>(rest[3], rest.size() - 4);
    if (pwrite(segment->descriptor(), rest.data() + 4, length, static_cast<off_t>(place)) < 0) std::abort();
    rest = rest.subspan(4 + length);
  }
  try {
    const Snapshot snapshot = read_snapshot(segment->descriptor());
    if (!sound(snapshot)) std::abort();
    judge(snapshot, {data, given});
  } catch (const Error& error) {
    if (error.cause() != Cause::system) std::abort();
  }
  return 0;
}
