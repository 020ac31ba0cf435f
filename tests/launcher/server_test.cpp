// SPDX-License-Identifier: BSD-3-Clause
// The rendezvous, spoken to by hand: guests that know the rules, and guests that do not.
#include "launcher/server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "launch/conversation.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using launch::Conversation;
using launch::Deadline;

constexpr int size = 3;

/// A server that its own thread serves, and guests in the test's thread.
class ServerTest : public testing::Test {
 protected:
  ServerTest() : secret_(launch::random_secret()), segment_(host::Segment::create(size, launch::random_job())) {
    server_.emplace(loop_, secret_, segment_, 6);
    server_->on_lost([this](Rank rank) { lost_.store(rank, std::memory_order_release); });
    thread_ = std::thread([this] {
      while (!stop_.load(std::memory_order_acquire)) {
        loop_.after(1ms, [] {});
        loop_.turn();
      }
    });
  }
  ~ServerTest() override {
    stop_.store(true, std::memory_order_release);
    thread_.join();
  }

  Conversation connect() { return Conversation(launch::Address(server_->address())); }
  launch::Hello hello(Rank rank) const {
    launch::Hello hello;
    hello.rank = rank;
    hello.size = size;
    hello.pid = getpid();
    hello.secret = secret_;
    return hello;
  }
  /// Says hello and becomes ready; Go is still to come.
  Conversation join(Rank rank) {
    Conversation guest = connect();
    guest.send(hello(rank), deadline_);
    const auto welcome = guest.expect<launch::Welcome>(deadline_);
    EXPECT_EQ(welcome.size, size);
    EXPECT_EQ(welcome.cores, 6);
    EXPECT_EQ(welcome.job, segment_->header().job);
    EXPECT_TRUE(guest.take_descriptor());
    guest.send(launch::Ready{}, deadline_);
    return guest;
  }
  std::vector<Conversation> join_all() {
    std::vector<Conversation> guests;
    for (Rank rank = 0; rank < size; ++rank) guests.push_back(join(rank));
    for (Conversation& guest : guests) guest.expect<launch::Go>(deadline_);
    return guests;
  }
  /// What the server says when it refuses; fails when it does not.
  std::string refusal(Conversation& guest) {
    try {
      guest.receive(deadline_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  std::string refusal_of(const launch::Hello& hello) {
    Conversation guest = connect();
    guest.send(hello, deadline_);
    return refusal(guest);
  }

  launch::Secret secret_;
  std::shared_ptr<host::Segment> segment_;
  launch::Loop loop_;
  std::optional<Server> server_;
  std::atomic<Rank> lost_{-1};
  std::atomic<bool> stop_{false};
  std::thread thread_;
  Deadline deadline_{launch::Patience{10s}};
};

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

TEST_F(ServerTest, LetsAllRanksInTogether) {
  Conversation first = join(0), second = join(1);
  Deadline soon{launch::Patience{20ms}};
  EXPECT_THROW(first.receive(soon), Error) << "Go before the last has come";
  Conversation third = join(2);
  for (Conversation* guest : {&first, &second, &third}) guest->expect<launch::Go>(deadline_);
}

TEST_F(ServerTest, RefusesAnotherVersion) {
  launch::Hello foreign = hello(0);
  foreign.version = host::wire_version + 7;
  const std::string text = refusal_of(foreign);
  expect_text(text, "version " + std::to_string(host::wire_version + 7));
  expect_text(text, "same installation");
  join_all();
}

TEST_F(ServerTest, RefusesAnotherSecret) {
  launch::Hello stranger = hello(0);
  stranger.secret.bytes[15] ^= std::byte{1};
  const std::string text = refusal_of(stranger);
  expect_text(text, "secret is wrong");
  expect_text(text, "tutti run");
  join_all();
}

TEST_F(ServerTest, RefusesAnotherSize) {
  launch::Hello mistaken = hello(0);
  mistaken.size = size + 1;
  expect_text(refusal_of(mistaken), "TUTTI_SIZE is 4, but the job has 3 ranks");
}

TEST_F(ServerTest, RefusesASeatThatIsTaken) {
  Conversation guest = join(1);
  const std::string text = refusal_of(hello(1));
  expect_text(text, "rank 1 is taken by a process that is still there (process " + std::to_string(getpid()) + ")");
}

TEST_F(ServerTest, RefusesARankThatHasLeft) {
  std::vector<Conversation> guests = join_all();
  guests[2].send(launch::Bye{}, deadline_);
  EXPECT_THROW(guests[2].receive(deadline_), Error);
  expect_text(refusal_of(hello(2)), "rank 2 has already taken part and left");
  EXPECT_EQ(lost_.load(std::memory_order_acquire), -1);
}

TEST_F(ServerTest, RefusesALifelineWithoutItsRank) {
  launch::Hello lifeline = hello(1);
  lifeline.purpose = launch::Purpose::lifeline;
  expect_text(refusal_of(lifeline), "without joining first");
}

TEST_F(ServerTest, AHangUpIsALoss) {
  std::vector<Conversation> guests = join_all();
  segment_->enter(1);
  guests[1].close();
  while (lost_.load(std::memory_order_acquire) != 1) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(segment_->process(1).life.load(std::memory_order_acquire), host::Life::dead);
  expect_text(refusal_of(hello(1)), "rank 1 has already taken part and ended");
}

TEST_F(ServerTest, OneThatHangsUpWhileJoiningEndsTheWaitOfAll) {
  Conversation waiting = join(0);
  join(1).close();
  expect_text(refusal(waiting), "rank 1 (process " + std::to_string(getpid()) + ") ended while it joined");
  expect_text(refusal_of(hello(2)), "rank 1 (process");
}

TEST_F(ServerTest, KeepsValues) {
  std::vector<Conversation> guests = join_all();
  guests[0].send(launch::Get{1, "key"}, deadline_);  // waits
  guests[1].send(launch::Put{2, "key", {std::byte{42}}}, deadline_);
  EXPECT_EQ(guests[1].expect<launch::Stored>(deadline_).number, 2u);
  const auto value = guests[0].expect<launch::Value>(deadline_);
  EXPECT_EQ(value.number, 1u);
  EXPECT_EQ(value.value, std::vector{std::byte{42}});
  guests[2].send(launch::Get{3, "key"}, deadline_);  // is there already
  EXPECT_EQ(guests[2].expect<launch::Value>(deadline_).number, 3u);
  guests[2].send(launch::Put{4, "key", {}}, deadline_);
  expect_text(guests[2].expect<launch::Failed>(deadline_).reason, "already in the store");
}

TEST_F(ServerTest, ALossAnswersAllWhoWaitForValues) {
  std::vector<Conversation> guests = join_all();
  guests[0].send(launch::Get{1, "key"}, deadline_);
  guests[1].close();
  expect_text(guests[0].expect<launch::Failed>(deadline_).reason, "\"key\" will not come: rank 1 (process ");
  guests[2].send(launch::Get{2, "key"}, deadline_);
  expect_text(guests[2].expect<launch::Failed>(deadline_).reason, "\"key\" will not come: rank 1 (process ");
}

TEST_F(ServerTest, LimitsWhatOneRankMayAsk) {
  std::vector<Conversation> guests = join_all();
  for (std::uint32_t i = 0; i < 65; ++i) guests[0].send(launch::Get{i, "never"}, deadline_);
  EXPECT_EQ(guests[0].expect<launch::Failed>(deadline_).number, 64u);
  // It is full at 64 MiB, and says so; what is in it stays.
  const std::vector<std::byte> large(launch::longest_value);
  for (std::uint32_t i = 0;; ++i) {
    ASSERT_LE(i, 1024u);
    guests[1].send(launch::Put{i, "key" + std::to_string(i), large}, deadline_);
    const launch::Message answer = guests[1].receive(deadline_);
    if (const auto* failed = std::get_if<launch::Failed>(&answer)) {
      expect_text(failed->reason, "full");
      EXPECT_GT(i, 1000u);
      break;
    }
  }
}

TEST_F(ServerTest, GarbageDisturbsNobody) {
  const std::uint64_t seed = 99;
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  std::vector<base::Descriptor> silent;
  for (int i = 0; i < 600; ++i) {
    base::Descriptor socket = launch::connect_to(launch::Address(server_->address()));
    std::vector<char> garbage(random.below(5000));
    for (char& c : garbage) c = static_cast<char>(random.next());
    if (random.once_in(2) && garbage.size() >= 4) std::copy_n("TTT1", 4, garbage.begin());
    if (random.once_in(3)) garbage.resize(std::min<std::size_t>(garbage.size(), 3));
    // The server may have hung up half-way, which is its right.
    if (!garbage.empty()) send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    silent.push_back(std::move(socket));
  }
  const std::uint64_t begin = base::now();
  join_all();
  EXPECT_LT(base::now() - begin, 1'000'000'000u) << "seed " << seed;
}

TEST_F(ServerTest, SilentGuestsAreDroppedInTheEnd) {
  const base::Descriptor socket = launch::connect_to(launch::Address(server_->address()));
  pollfd entry{socket.get(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 10000), 1);
  char c;
  EXPECT_EQ(recv(socket.get(), &c, 1, 0), 0);
}

TEST_F(ServerTest, AMemberThatBreaksTheRulesIsLost) {
  std::vector<Conversation> guests = join_all();
  guests[0].send(launch::Ready{}, deadline_);
  while (lost_.load(std::memory_order_acquire) != 0) std::this_thread::sleep_for(1ms);
}

}  // namespace
}  // namespace tutti::launcher
