// SPDX-License-Identifier: BSD-3-Clause
// What inproc has beside a transport's contract: thousands of ranks, messages that overtake each other, a wake-up.
#include "transport/inproc/network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "transport/inproc/scheduler.hpp"

namespace tutti::transport::inproc {

namespace {

Transfer transfer(Peer peer, std::uint32_t message, std::uint64_t& word) {
  Transfer result;
  result.peer = peer;
  result.tag.message = message;
  result.data = reinterpret_cast<std::byte*>(&word);
  result.size = sizeof word;
  return result;
}

void wait(Transport& transport, Fibers& fibers, const Transfer& transfer) {
  while (transfer.state == State::pending)
    if (!transport.progress()) fibers.yield();
}

// A dissemination barrier that adds up how many ranks each has heard of.
TEST(Network, a_thousand_ranks_late_by_chance) {
  constexpr int size = 1000;
  Fibers fibers(size, 11);
  Network network(size, {.wake = {}, .scheduler = &fibers, .seed = 11, .delay = 2000});
  std::vector<std::uint64_t> last(size, 0);
  fibers.run([&](Rank rank) {
    const auto transport = network.transport(rank);
    std::uint64_t mine = 0, theirs = 0;
    std::uint32_t round = 0;
    for (int distance = 1; distance < size; distance *= 2, ++round) {
      Transfer send = transfer((rank + distance) % size, round, mine);
      Transfer receive = transfer((rank - distance + size) % size, round, theirs);
      transport->send(send);
      transport->recv(receive);
      wait(*transport, fibers, receive);
      ASSERT_EQ(receive.state, State::done);
      ASSERT_EQ(theirs, round);
      ++mine;
    }
    last[static_cast<std::size_t>(rank)] = mine;
  });
  EXPECT_EQ(last, std::vector<std::uint64_t>(size, 10));
}

// Rank 0 sends 0..19 with different tags, or with one; returns the order in which they could be received.
std::vector<std::uint64_t> order_of_arrival(std::uint64_t seed, bool one_tag) {
  std::vector<std::uint64_t> order;
  Fibers fibers(2, seed);
  Network network(2, {.wake = {}, .scheduler = &fibers, .seed = seed, .delay = 5000});
  fibers.run([&](Rank rank) {
    const auto transport = network.transport(rank);
    std::array<std::uint64_t, 20> words{};
    std::array<Transfer, 20> transfers;
    for (std::uint32_t i = 0; i < 20; ++i) {
      words[i] = rank == 0 ? i : 0;
      transfers[i] = transfer(1 - rank, one_tag ? 0 : i, words[i]);
      rank == 0 ? transport->send(transfers[i]) : transport->recv(transfers[i]);
    }
    std::array<bool, 20> seen{};
    while (rank == 1 && order.size() < 20) {
      transport->progress();
      for (std::size_t i = 0; i < 20; ++i)
        if (!seen[i] && transfers[i].state == State::done) {
          seen[i] = true;
          order.push_back(words[i]);
        }
      fibers.yield();
    }
  });
  return order;
}

TEST(Network, tags_overtake_each_other_but_never_themselves) {
  std::vector<std::uint64_t> sorted(20);
  for (std::uint64_t i = 0; i < 20; ++i) sorted[i] = i;
  int overtaken = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(order_of_arrival(seed, true), sorted) << "seed " << seed;
    overtaken += order_of_arrival(seed, false) != sorted;
    EXPECT_EQ(order_of_arrival(seed, false), order_of_arrival(seed, false)) << "seed " << seed;
  }
  EXPECT_GE(overtaken, 9);
}

TEST(Network, wakes_whoever_something_was_put_before) {
  std::array<int, 2> woken{};
  Network network(2, {.eager = 4, .wake = [&](Rank rank) { ++woken[static_cast<std::size_t>(rank)]; }});
  const auto zero = network.transport(0), one = network.transport(1);
  std::uint64_t out = 42, in = 0;
  Transfer send = transfer(1, 0, out), receive = transfer(0, 0, in);
  zero->send(send);  // 8 bytes: announced
  EXPECT_EQ(send.state, State::pending);
  EXPECT_EQ(woken, (std::array<int, 2>{0, 1}));
  one->recv(receive);
  EXPECT_TRUE(one->progress());
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in, 42u);
  EXPECT_EQ(woken, (std::array<int, 2>{1, 1}));
  EXPECT_TRUE(zero->progress());
  EXPECT_EQ(send.state, State::done);
  EXPECT_FALSE(zero->progress());
  EXPECT_FALSE(one->progress());
}

}  // namespace

}  // namespace tutti::transport::inproc
