// SPDX-License-Identifier: BSD-3-Clause
// send and recv between real processes, at the edges: who is slow, stops, dies, or ends right after its last message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "faults/job.hpp"

namespace {

using tutti::Error;
using tutti::Group;
using tutti::Rank;
using tutti::Request;
using namespace tutti::faults;

constexpr int patience = 20;  // seconds until a rank counts as hanging
constexpr std::uint64_t short_time = 300'000'000;

/// What a message holds, by its number.
std::vector<int> content(int number, std::size_t length) {
  std::vector<int> numbers(length);
  std::iota(numbers.begin(), numbers.end(), number * 1000);
  return numbers;
}

void expect_messages(Seat& seat, const Group& world, int count, std::size_t length) {
  for (int i = 0; i < count; ++i) {
    std::vector<int> got(length);
    world.recv(got, 1);
    if (got != content(i, length)) return seat.say("wrong content in message " + std::to_string(i));
  }
  seat.say("all came");
}

void send_messages(const Group& world, int count, std::size_t length) {
  for (int i = 0; i < count; ++i) world.send(content(i, length), 0);
}

/// Waits without a call of Tutti until the other rank has left.
void await_departure(Seat& seat, Rank other) {
  while (seat.segment().process(other).life.load(std::memory_order_acquire) != tutti::host::Life::left) usleep(1000);
}

/// Says what `call` throws.
template <class Call>
void try_to(Seat& seat, const std::string& what, Call call) {
  try {
    call();
    seat.say(what + ": done");
  } catch (const tutti::Timeout& error) {
    seat.say(what + ": timeout, " + error.what());
  } catch (const tutti::PeerLost& error) {
    seat.say(what + ": lost, " + error.what());
  } catch (const Error& error) {
    seat.say(what + ": other, " + error.what());
  }
}

void expect_said(Job& job, Rank rank, const std::string& text) {
  EXPECT_TRUE(job.await_end(rank, patience, true)) << "rank " << rank << " hangs";
  EXPECT_NE(job.said(rank).find(text), std::string::npos) << "rank " << rank << " said: " << job.said(rank);
}

TEST(Messages, ARankMayEndRightAfterItsLastSend) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{250}, std::size_t{1000}, std::size_t{100'000}})
    for (const bool single_copy : {true, false}) {
      SCOPED_TRACE(length);
      constexpr int count = 200;  // much more than a ring holds
      Job job(2, {.single_copy = single_copy}, [&](Seat& seat) {
        const Group world = seat.world();
        if (world.rank() == 1) return send_messages(world, count, length);
        usleep(50'000);
        expect_messages(seat, world, count, length);
      });
      expect_said(job, 0, "all came");
      expect_said(job, 1, "");
    }
}

// The receiver's last word to the sender finds no room in the ring, and the receiver does not stay to say it.
TEST(Messages, AReceiverMayEndWhileItsRingIsFull) {
  constexpr int count = 512;  // of 128 bytes in the ring: it is exactly full
  Job job(2, {}, [&](Seat& seat) {
    const Group world = seat.world();
    std::vector<int> large(500'000);
    if (world.rank() == 1) {
      while (seat.shared().ready.load(std::memory_order_acquire) == 0) usleep(1000);
      send_messages(world, count, 1);
      world.recv(large, 0, 7);
      return seat.say(large == content(3, large.size()) ? "right" : "wrong");
    }
    large = content(3, large.size());
    Request request = world.isend(large, 1, 7);
    seat.ready();
    await_departure(seat, 1);
    try_to(seat, "wait", [&] { request.wait(); });
    expect_messages(seat, world, count, 1);
  });
  expect_said(job, 1, "right");
  expect_said(job, 0, "wait: done");
  expect_said(job, 0, "all came");
}

// What a program starts and never waits for is lost with it. Who waits for that learns it.
TEST(Messages, SendsThatWereNeverWaitedForEndInAnError) {
  Job job(2, {}, [](Seat& seat) {
    const Group world = seat.world();
    static const std::vector<int> data(900);
    if (world.rank() == 1) {
      auto* const requests = new std::vector<Request>;  // never destroyed, as in a C program that forgets them
      for (int i = 0; i < 100; ++i) requests->push_back(world.isend(data, 0));
      return;
    }
    await_departure(seat, 1);
    std::vector<int> got(900);
    try_to(seat, "recv", [&] {
      for (int i = 0; i < 100; ++i) world.recv(got, 1);
    });
  });
  expect_said(job, 0, "recv: lost, rank 1 of group world");
  expect_said(job, 0, "has ended without taking part");
}

TEST(Messages, SendingToTheDeadEnds) {
  for (const std::size_t length : {std::size_t{250}, std::size_t{100'000}}) {
    Job job(2, {}, [&](Seat& seat) {
      const Group world = seat.world();
      if (world.rank() == 0) seat.strike_self(SIGKILL);
      try_to(seat, "send", [&] { send_messages(world, 10'000, length); });
    });
    EXPECT_TRUE(job.await_end(0, patience, true));
    expect_said(job, 1, "send: lost");
  }
}

TEST(Messages, SendingToOneThatHasLeftEnds) {
  Job job(2, {}, [](Seat& seat) {
    const Group world = seat.world();
    if (world.rank() == 0) return;
    try_to(seat, "send", [&] { send_messages(world, 10'000, 250); });
  });
  expect_said(job, 1, "send: lost");
}

TEST(Messages, TheTimeLimitHoldsForSendAndRecv) {
  Job job(2, {.timeout = short_time}, [](Seat& seat) {
    const Group world = seat.world();
    if (world.rank() == 1) return seat.strike_self(SIGSTOP);
    std::vector<int> data(100'000);
    try_to(seat, "recv", [&] { world.recv(data, 1); });
  });
  expect_said(job, 0, "recv: timeout, send or recv");
  Job other(2, {.timeout = short_time}, [](Seat& seat) {
    const Group world = seat.world();
    if (world.rank() == 1) return seat.strike_self(SIGSTOP);
    std::vector<int> data(100'000);
    try_to(seat, "send", [&] { world.send(data, 1); });
    try_to(seat, "then", [&] { world.send(data, 1); });
  });
  expect_said(other, 0, "send: timeout, send or recv");
  expect_said(other, 0, "then: other");  // given up: the group is broken, at once
}

// Rank 1 is there, and does not come to where all find out whether they can read each other.
TEST(Messages, TheTimeLimitHoldsForFindingTheOthers) {
  Job job(2, {.timeout = short_time}, [](Seat& seat) {
    if (seat.rank() == 1) return seat.strike_self(SIGSTOP);
    try_to(seat, "world", [&] { seat.world(); });
  });
  expect_said(job, 0, "world: timeout");
}

}  // namespace
