// SPDX-License-Identifier: BSD-3-Clause
// The store of rank 0: ranks that know the rules, and strangers that do not.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../limits.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "launch/caller.hpp"
#include "launch/conversation.hpp"
#include "launch/entrance.hpp"
#include "launch/system.hpp"
#include "launch/tcp_store.hpp"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;
namespace tcp = transport::tcp;

constexpr int size = 3;

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "\"" << text << "\" lacks \"" << part << "\"";
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::vector<base::Descriptor> listeners;
    listeners.push_back(tcp::listen_at(*tcp::Address::parse("tcp:127.0.0.1:0")));
    address_ = tcp::Address::of(listeners.front().get());
    store_.emplace(std::move(listeners), secret_, size);
  }

  base::Descriptor call(const Secret& secret, Deadline& deadline) {
    return call_store([this] { return StoreAddresses{{address_}}; }, address_.text(), secret, 1, deadline);
  }
  Conversation connect() { return {call(secret_, deadline_), "the store"}; }
  Conversation own() { return {store_->take_own(), "the store"}; }
  static Join join_of(Rank rank) { return {rank, size, 4711, {"host", 1, 2, {}}}; }
  /// All have joined, and know it.
  std::vector<Conversation> all() {
    std::vector<Conversation> guests;
    guests.push_back(own());
    while (guests.size() < size) guests.push_back(connect());
    for (Rank rank = 0; rank < size; ++rank) guests[static_cast<std::size_t>(rank)].send(join_of(rank), deadline_);
    for (Conversation& guest : guests) EXPECT_EQ(guest.expect<Roster>(deadline_).cards.size(), size);
    for (Conversation& guest : guests) guest.send(Ready{}, deadline_);
    for (Conversation& guest : guests) guest.expect<Go>(deadline_);
    return guests;
  }
  std::string refusal(Conversation& guest) {
    try {
      guest.receive(deadline_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  std::string refusal_of(const Join& join) {
    Conversation guest = connect();
    guest.send(join, deadline_);
    return refusal(guest);
  }
  base::Descriptor stranger() {
    base::Descriptor socket(::socket(address_.system()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), address_.system(), address_.length()), 0);
    return socket;
  }

  const Secret secret_ = random_secret();
  tcp::Address address_;
  std::optional<TcpStore> store_;
  Deadline deadline_{Patience{30s}};
};

TEST_F(StoreTest, LetsAllRanksInTogether) {
  Conversation first = own(), second = connect();
  first.send(join_of(0), deadline_);
  second.send(join_of(2), deadline_);
  Deadline soon{Patience{20ms}};
  EXPECT_THROW(second.receive(soon), Timeout) << "a roster before the last has come";
  Conversation third = connect();
  third.send(join_of(1), deadline_);
  const auto roster = first.expect<Roster>(deadline_);
  EXPECT_NE(roster.job, 0u);
  EXPECT_EQ(second.expect<Roster>(deadline_).job, roster.job);
}

TEST_F(StoreTest, SaysForWhomOneWaits) {
  Conversation first = own(), second = connect();
  first.send(join_of(0), deadline_);
  second.send(join_of(2), deadline_);
  EXPECT_EQ(second.expect<Waiting>(deadline_).reason, "rank 1");
  EXPECT_EQ(first.expect<Waiting>(deadline_).reason, "rank 1");
}

TEST_F(StoreTest, LeavesItsAddressToAnotherWhenAllHaveJoined) {
  const std::vector<Conversation> guests = all();
  const base::Descriptor late(::socket(address_.system()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(late.get(), address_.system(), address_.length()), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_F(StoreTest, RefusesWhatCannotBe) {
  Conversation guest = connect();
  guest.send(join_of(1), deadline_);
  Join twice = join_of(1), mistaken = join_of(2);
  expect_text(refusal_of(twice), "rank 1 is taken by a process that is still there (process 4711)");
  mistaken.size = size + 1;
  expect_text(refusal_of(mistaken), "TUTTI_SIZE is 4, but the job has 3 ranks");
}

TEST_F(StoreTest, OneThatHangsUpWhileJoiningEndsTheWaitOfAll) {
  Conversation waiting = connect(), lost = connect();
  waiting.send(join_of(1), deadline_);
  lost.send(join_of(2), deadline_);
  lost.close();
  expect_text(refusal(waiting), "rank 2 (process 4711) ended while it joined");
  expect_text(refusal_of(join_of(2)), "rank 2 (process 4711) ended while it joined");
}

TEST_F(StoreTest, ItsEndEndsTheWaitOfAll) {
  Conversation waiting = connect();
  waiting.send(join_of(1), deadline_);
  expect_text(refusal_of(join_of(1)), "taken");  // the first is in
  store_.reset();
  expect_text(refusal(waiting), "rank 0 has ended, or has given up waiting");
}

TEST_F(StoreTest, KeepsValuesAndTellsOfLosses) {
  std::vector<Conversation> guests = all();
  guests[1].send(Get{1, "key"}, deadline_);
  guests[0].send(Put{2, "key", {std::byte{42}}}, deadline_);
  EXPECT_EQ(guests[1].expect<Value>(deadline_).value, std::vector{std::byte{42}});
  guests[1].send(Get{3, "never"}, deadline_);
  guests[2].close();
  expect_text(guests[1].expect<Failed>(deadline_).reason, "\"never\" will not come: rank 2 (process 4711) ended");
}

TEST_F(StoreTest, LingersUntilAllHaveLeft) {
  std::vector<Conversation> guests = all();
  store_->linger(1ms);
  guests[0].send(Bye{}, deadline_);
  guests[1].send(Bye{}, deadline_);
  guests[2].close();
  const std::uint64_t begin = base::now();
  store_->linger(60s);
  EXPECT_LT(base::now() - begin, 30'000'000'000u);
}

TEST_F(StoreTest, WhoDoesNotKnowTheSecretIsTold) {
  try {
    call(random_secret(), deadline_);
    FAIL() << "let in";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::system);
    expect_text(error.what(), "does not know this job's secret");
  }
  all();
}

/// A rank 0 of another version: it answers whoever calls with its own banner.
TEST(Store, OfAnotherVersionIsRefused) {
  const base::Descriptor listener = tcp::listen_at(*tcp::Address::parse("tcp:127.0.0.1:0"));
  const tcp::Address address = tcp::Address::of(listener.get());
  std::thread other([&] {
    pollfd entry{listener.get(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 30000), 1);
    const base::Descriptor socket = tcp::accept_from(listener.get());
    Banner banner;
    banner.wire += 4;
    send(socket.get(), &banner, sizeof banner, MSG_NOSIGNAL);
    char rest[64];
    entry.fd = socket.get();
    while (poll(&entry, 1, 30000) == 1 && recv(socket.get(), rest, sizeof rest, 0) > 0) {
    }
  });
  Deadline deadline{Patience{30s}};
  try {
    call_store([&] { return StoreAddresses{{address}}; }, "tcp:there:1", random_secret(), 1, deadline);
    ADD_FAILURE() << "let in";
  } catch (const Error& error) {
    expect_text(error.what(),
                "rank 0's Tutti at tcp:there:1 speaks wire version " + std::to_string(host::wire_version + 4) + ".");
    expect_text(error.what(), "this program's version " + std::to_string(host::wire_version) + ".");
  }
  other.join();
}

TEST(Store, ThatIsNotThereIsWaitedFor) {
  base::Descriptor listener = tcp::listen_at(*tcp::Address::parse("tcp:127.0.0.1:0"));
  const tcp::Address address = tcp::Address::of(listener.get());
  listener.reset();
  const Secret secret = random_secret();
  Deadline soon{Patience{50ms}};
  const FindStore find = [&] { return StoreAddresses{{address}}; };
  try {
    call_store(find, "tcp:there:1", secret, 1, soon);
    ADD_FAILURE() << "let in";
  } catch (const Timeout& error) {
    expect_text(error.what(), "rank 0, which serves the job's store at tcp:there:1, did not answer in the time given");
  }
  std::thread late([&] {
    std::this_thread::sleep_for(200ms);
    std::vector<base::Descriptor> listeners;
    listeners.push_back(tcp::listen_at(address));
    TcpStore store(std::move(listeners), secret, 2);
    store.linger(300ms);
  });
  Deadline deadline{Patience{30s}};
  EXPECT_TRUE(call_store(find, "tcp:there:1", secret, 1, deadline));
  late.join();
}

/// Of many addresses one leads to the store; the others lead nowhere, or to somebody who never answers.
TEST_F(StoreTest, IsFoundAmongManyAddresses) {
  const base::Descriptor silent = tcp::listen_at(*tcp::Address::parse("tcp:127.0.0.1:0"));
  const std::vector<tcp::Address> addresses{*tcp::Address::parse("tcp:127.0.0.1:1"), tcp::Address::of(silent.get()),
                                            *tcp::Address::parse("tcp:[::1]:1"), address_};
  EXPECT_TRUE(call_store([&] { return StoreAddresses{addresses}; }, "many", secret_, 1, deadline_));
}

TEST_F(StoreTest, GarbageDisturbsNobody) {
  const std::uint64_t seed = base::now();
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  std::vector<base::Descriptor> held;
  std::vector<std::byte> banner(sizeof(Banner));
  const Banner mine;
  std::memcpy(banner.data(), &mine, sizeof mine);
  for (int i = 0; i < 10000; ++i) {
    base::Descriptor socket = stranger();
    // Some begin as they should, up to some byte.
    std::vector<std::byte> garbage(banner.begin(), banner.begin() + static_cast<std::ptrdiff_t>(random.below(17)));
    const std::size_t more = random.below(200);
    for (std::size_t j = 0; j < more; ++j) garbage.push_back(static_cast<std::byte>(random.next()));
    if (!garbage.empty()) send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (held.size() < 100 && random.once_in(4)) held.push_back(std::move(socket));  // half-open
  }
  EXPECT_EQ(all().size(), size) << "seed " << seed;
}

TEST_F(StoreTest, SaysWhyNobodyElseCanCome) {
  Conversation first = own(), second = connect();
  first.send(join_of(0), deadline_);
  second.send(join_of(0), deadline_);
  expect_text(refusal(second), "taken");  // the first is in
  EXPECT_THROW(second.receive(deadline_), Error) << "its descriptor is free again";
  const base::Descriptor next(::socket(address_.system()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  testing::internal::CaptureStderr();
  {
    const NoDescriptors standing;
    ASSERT_EQ(::connect(next.get(), address_.system(), address_.length()), 0);
    struct stat told {};
    for (int i = 0; i < 30'000 && told.st_size == 0; ++i) {
      std::this_thread::sleep_for(1ms);
      fstat(STDERR_FILENO, &told);
    }
    std::this_thread::sleep_for(250ms);  // it tries again meanwhile, without a word
  }
  const std::string said = testing::internal::GetCapturedStderr();
  expect_text(said, "tutti: no further rank can join at present: Too many open files; raise the limit of open files");
  EXPECT_EQ(said.find("tutti:"), said.rfind("tutti:")) << said;
  expect_text(refusal_of(join_of(0)), "taken");  // others come in again
}

TEST_F(StoreTest, StrangersAreDroppedInTheEnd) {
  const base::Descriptor socket = stranger();
  pollfd entry{socket.get(), POLLIN, 0};
  char bytes[sizeof(Banner) + 1];
  const std::uint64_t begin = base::now();
  ssize_t got = 0;
  for (ssize_t n = 1; n > 0 && poll(&entry, 1, 30000) == 1; got += std::max<ssize_t>(n, 0))
    n = recv(socket.get(), bytes, sizeof bytes, 0);
  EXPECT_LE(got, static_cast<ssize_t>(sizeof(Banner))) << "a stranger learns the version and no more";
  EXPECT_LT(base::now() - begin, 25'000'000'000u);
}

}  // namespace
}  // namespace tutti::launch
