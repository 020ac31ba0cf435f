// SPDX-License-Identifier: BSD-3-Clause
// What is said of a situation, whatever it was read from.
#include "diagnose/findings.hpp"

#include <gtest/gtest.h>

namespace tutti::diagnose {
namespace {

constexpr std::uint64_t its_context = 99;

/// Ranks that wait, all in one group.
class Findings : public ::testing::Test {
 protected:
  void make(int ranks) {
    situation_.seats.resize(static_cast<std::size_t>(ranks));
    situation_.snapshot.processes.resize(situation_.seats.size());
    situation_.snapshot.taken_at = 2'000'000'000;
    Group& group = situation_.snapshot.groups.emplace_back();
    group.context = its_context;
    group.name = "world";
    for (Rank rank = 0; rank < ranks; ++rank) {
      group.members.emplace_back().world = rank;
      seat(rank).state = State::waiting;
      situation_.snapshot.processes[static_cast<std::size_t>(rank)].life = host::Life::alive;
    }
  }
  Seat& seat(Rank rank) { return situation_.seats[static_cast<std::size_t>(rank)]; }
  /// It has called that, and so all before it.
  void calls(Rank rank, std::uint64_t sequence, Kind kind) {
    Called called;
    called.sequence = sequence;
    called.call = static_cast<std::uint64_t>(kind);
    situation_.snapshot.groups[0].members[static_cast<std::size_t>(rank)].calls.push_back(called);
  }
  host::Wait& waits(Rank rank, Rank on, host::Waited what, std::uint64_t sequence = 0, Kind kind = Kind::allreduce) {
    host::Wait wait;
    wait.context = its_context;
    wait.sequence = sequence;
    wait.call = static_cast<std::uint64_t>(kind);
    wait.since = 1;
    wait.what = what;
    wait.awaited = 1;
    wait.add(on);
    return seat(rank).waits.emplace_back(wait);
  }
  Finding found() const {
    const Words words{[](std::int32_t) { return std::string_view(); },
                      [](Rank, std::uint64_t) { return std::string(); }};
    return find(situation_, words).front();
  }

  Situation situation_;
};

/// An exchange of much data: each waits for what the other sends, and both send.
TEST_F(Findings, TakeWhoIsInTheSameOperationForAtWork) {
  make(2);
  for (const Rank rank : {0, 1}) {
    calls(rank, 3, Kind::allreduce);
    waits(rank, 1 - rank, host::Waited::collective, 3);
  }
  EXPECT_EQ(found().kind, "waiting") << found().text;
  // One has its result, and is in the next one already.
  calls(1, 4, Kind::allreduce);
  seat(1).waits.clear();
  waits(1, 0, host::Waited::collective, 4);
  EXPECT_EQ(found().kind, "waiting") << found().text;
}

TEST_F(Findings, TakeBothEndsOfAMessageForAtWork) {
  make(2);
  waits(0, 1, host::Waited::send).tag = 7;
  waits(1, 0, host::Waited::recv).tag = 7;
  EXPECT_EQ(found().kind, "waiting") << found().text;
  seat(1).waits[0].tag = 8;
  EXPECT_EQ(found().kind, "deadlock") << found().text;
  seat(1).waits[0].tag = 7;
  seat(1).waits[0].what = host::Waited::send;
  EXPECT_EQ(found().kind, "deadlock") << found().text;
}

TEST_F(Findings, FindADeadlockInAPlan) {
  make(2);
  for (const Rank rank : {0, 1}) {
    calls(rank, 3, Kind::plan);
    waits(rank, 1 - rank, host::Waited::collective, 3, Kind::plan);
  }
  EXPECT_EQ(found().kind, "deadlock") << found().text;
}

/// Rank 0 waits for rank 1, which is there; but both need rank 2, which waits for rank 0 in what comes later.
TEST_F(Findings, FollowAnOperationToWhoIsMissingInIt) {
  make(3);
  for (const Rank rank : {0, 1}) calls(rank, 3, Kind::allreduce);
  waits(0, 1, host::Waited::collective, 3);
  waits(1, 2, host::Waited::collective, 3);
  waits(2, 0, host::Waited::agree);
  EXPECT_EQ(found().kind, "deadlock") << found().text;
  EXPECT_EQ(found().ranks, (std::vector<Rank>{0, 1, 2}));
  // It is there, and what it waits for comes when rank 0 is done.
  calls(2, 3, Kind::allreduce);
  EXPECT_EQ(found().kind, "waiting") << found().text;
}

/// What another host shows may be over by now, if that rank has called something meanwhile.
TEST_F(Findings, BlameNoRankOfAnotherHostThatGoesOn) {
  make(2);
  seat(1).state = State::running;
  seat(1).moved = true;
  waits(0, 1, host::Waited::collective, 3);
  EXPECT_EQ(found().kind, "missing") << "on one host, all are looked at at once";
  seat(0).host = "a";
  seat(1).host = "b";
  EXPECT_EQ(found().kind, "waiting") << found().text;
  seat(1).moved = false;
  EXPECT_EQ(found().kind, "missing") << found().text;
}

}  // namespace
}  // namespace tutti::diagnose
