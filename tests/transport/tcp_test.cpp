// SPDX-License-Identifier: BSD-3-Clause
// What the conformance suite does not see of tcp: strangers, calls that meet, what a receiver has to keep.
#include "transport/tcp/tcp.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/socket.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr std::uint64_t patience = 20'000'000'000;
const base::Key secret{std::byte{1}, std::byte{2}, std::byte{3}};

/// Some ranks of a job, all in this thread.
class Ranks {
 public:
  explicit Ranks(int size, int flows = 4, const std::string& address = "tcp:127.0.0.1:0") {
    for (Peer rank = 0; rank < size; ++rank) {
      Options options;
      options.identity = identity(rank, size);
      options.listen = {address};
      options.find = [this](Peer peer) { return all_[static_cast<std::size_t>(peer)]->addresses(); };
      options.flows = flows;
      all_.push_back(listen(options));
    }
  }
  static Identity identity(Peer rank, int size) { return {.job = 9, .rank = rank, .size = size, .secret = secret}; }
  void end(Peer rank) { all_[static_cast<std::size_t>(rank)].reset(); }
  Tcp& operator[](Peer rank) { return *all_[static_cast<std::size_t>(rank)]; }
  void progress() {
    for (const auto& one : all_)
      if (one != nullptr) one->progress();
  }
  template <class Done>
  bool until(Done done) {
    for (const std::uint64_t end = base::now() + patience; !done(); progress())
      if (base::now() > end) return false;
    return true;
  }

 private:
  std::vector<std::unique_ptr<Tcp>> all_;
};

Transfer transfer(Peer peer, std::uint32_t message, std::span<std::byte> bytes) {
  Transfer made;
  made.peer = peer;
  made.tag = {.context = 4, .message = message};
  made.data = bytes.data();
  made.size = bytes.size();
  return made;
}

/// Both can send to each other, in order.
void expect_a_connection(Ranks& ranks) {
  constexpr std::uint32_t count = 20;
  std::vector<std::array<std::byte, 4>> out(2 * count), in(2 * count);
  std::vector<Transfer> sends, receives;
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    out[i].fill(static_cast<std::byte>(i));
    sends.push_back(transfer(i % 2 == 0 ? 1 : 0, 5, out[i]));
    receives.push_back(transfer(i % 2 == 0 ? 0 : 1, 5, in[i]));
  }
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    ranks[static_cast<Peer>(i % 2)].send(sends[i]);
    ranks[static_cast<Peer>(1 - i % 2)].recv(receives[i]);
  }
  EXPECT_TRUE(ranks.until(
      [&] { return std::ranges::none_of(receives, [](const Transfer& one) { return one.state == State::pending; }); }));
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    EXPECT_EQ(receives[i].state, State::done);
    EXPECT_EQ(in[i], out[i]);
  }
}

TEST(KeyedHash, IsTheOneOfThePaper) {
  // vectors_sip128 of the authors' reference implementation.
  base::Key key;
  std::array<std::byte, 15> text;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i);
  const auto hex = [&](std::size_t length) {
    std::string digits;
    for (const std::byte one : base::keyed_hash(key, std::span(text).first(length))) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(one));
      digits += two;
    }
    return digits;
  };
  EXPECT_EQ(hex(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hex(1), "da87c1d86b99af44347659119b22fc45");
}

TEST(Address, IsReadAndWritten) {
  for (const char* text : {"tcp:127.0.0.1:80", "tcp:[::1]:65535", "tcp:[fd77::2]:1", "unix:@name", "unix:@"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  for (const char* text :
       {"", "tcp:", "tcp:1.2.3.4", "tcp:1.2.3:5", "tcp:1.2.3.4:", "tcp:1.2.3.4:65536", "tcp:1.2.3.4:5x", "tcp:[::1:5",
        "tcp:::1:5", "udp:1.2.3.4:5", "unix:name", "tcp:localhost:5"})
    EXPECT_FALSE(Address::parse(text)) << text;
  EXPECT_FALSE(Address::parse("unix:@" + std::string(108, 'x')));
  EXPECT_EQ(parse_all("tcp:1.2.3.4:5 nonsense unix:@a").size(), 2u);
}

TEST(Tcp, SaysWhereItCannotListen) {
  for (const char* text : {"nonsense", "tcp:192.0.2.1:0"}) {
    Options options;
    options.listen = {text};
    try {
      listen(options);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

TEST(Tcp, CallsThatMeetBecomeOneConnection) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Ranks ranks(2);
    base::Random random(seed);
    const Peer first = static_cast<Peer>(random.below(2));
    ranks[first].call(1 - first);
    for (std::uint64_t steps = random.below(6); steps > 0; --steps)
      ranks[static_cast<Peer>(random.below(2))].progress();
    ranks[1 - first].call(first);
    for (std::uint64_t steps = random.below(6); steps > 0; --steps)
      ranks[static_cast<Peer>(random.below(2))].progress();
    expect_a_connection(ranks);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Tcp, CallsMeetBetweenThreadsToo) {
  for (int i = 0; i < 200; ++i) {
    Ranks ranks(2);
    std::atomic<int> ready{0}, standing{0};
    const auto both = [&](Peer self) {
      const auto meet = [&](std::atomic<int>& count) {
        // Acquire and release: each sees what the other did before.
        for (count.fetch_add(1, std::memory_order_acq_rel); count.load(std::memory_order_acquire) < 2;) {
          ranks[self].progress();
          std::this_thread::yield();
        }
      };
      meet(ready);
      ranks[self].call(1 - self);
      const std::uint64_t end = base::now() + patience;
      while (!ranks[self].connected(1 - self) && base::now() < end) {
        ranks[self].progress();
        std::this_thread::yield();
      }
      meet(standing);
    };
    std::thread other(both, 1);
    both(0);
    other.join();
    expect_a_connection(ranks);
    ASSERT_FALSE(HasFailure()) << "round " << i;
  }
}

TEST(Tcp, WhatWasSentBeforeTheEndArrives) {
  Ranks ranks(2);
  std::array<std::byte, 4> out{std::byte{7}}, in{}, more{};
  Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in);
  ranks[0].call(1);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  ranks[0].send(send);
  ranks.end(0);
  std::vector<Transfer> vain(3, transfer(0, 2, more));
  for (Transfer& one : vain) ranks[1].send(one);  // until the connection does not take it any more
  ranks[1].recv(receive);
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in, out);
}

TEST(Tcp, APeerThatIsNotThereIsLost) {
  Options options;
  options.identity = Ranks::identity(0, 3);
  options.listen = {"tcp:127.0.0.1:0"};
  options.find = [](Peer peer) { return std::string(peer == 1 ? "tcp:127.0.0.1:1" : ""); };
  const auto alone = listen(options);
  for (const Peer peer : {1, 2}) {
    std::array<std::byte, 4> bytes{};
    Transfer send = transfer(peer, 1, bytes), receive = transfer(peer, 2, bytes);
    alone->send(send);
    alone->recv(receive);
    const std::uint64_t end = base::now() + patience;
    while (receive.state == State::pending && base::now() < end) alone->progress();
    EXPECT_EQ(receive.state, State::lost);
  }
}

base::Descriptor call(Tcp& whom) {
  base::Descriptor socket = begin_call(parse_all(whom.addresses()).front());
  EXPECT_TRUE(socket);
  return socket;
}

void write_all(int socket, std::span<const std::byte> bytes) {
  // The other end may have hung up already.
  if (!bytes.empty() && send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

/// What somebody who has listened to a caller may send again.
std::vector<std::byte> said_by_a_caller(Tcp& answerer) {
  base::Descriptor socket = call(answerer);
  Hello hello{.job = 9, .from = 1, .to = 0};
  hello.nonce.fill(std::byte{7});
  write_all(socket.get(), std::as_bytes(std::span(&hello, 1)));
  Challenge challenge;
  std::size_t have = 0;
  while (have < sizeof challenge) {
    answerer.progress();
    const ssize_t n = recv(socket.get(), reinterpret_cast<std::byte*>(&challenge) + have, sizeof challenge - have, 0);
    if (n > 0) have += static_cast<std::size_t>(n);
  }
  const Identity identity = Ranks::identity(1, 2);
  EXPECT_EQ(challenge.proof, proof(Side::answerer, identity, hello, challenge.nonce));
  const Answer answer{proof(Side::caller, identity, hello, challenge.nonce)};
  std::vector<std::byte> all(sizeof hello + sizeof answer);
  std::memcpy(all.data(), &hello, sizeof hello);
  std::memcpy(all.data() + sizeof hello, &answer, sizeof answer);
  return all;
}

TEST(Tcp, StrangersAreRefusedAndHurtNothing) {
  constexpr int streams = 10'000;
  Ranks ranks(2);
  testing::internal::CaptureStderr();
  const std::vector<std::byte> heard = said_by_a_caller(ranks[0]);
  base::Random random(11);
  for (int i = 0; i < streams; ++i) {
    std::vector<std::byte> bytes = heard;  // of another conversation: the answer fits no other question
    switch (random.below(4)) {
      case 0:
        bytes.resize(random.below(200));
        for (std::byte& one : bytes) one = static_cast<std::byte>(random.next());
        break;
      case 1:
        bytes.resize(random.below(bytes.size()));
        break;
      case 2:
        bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
        break;
      default:
        break;
    }
    const base::Descriptor socket = call(ranks[0]);
    write_all(socket.get(), bytes);
    ranks[0].progress();
    if (random.once_in(2)) ranks[0].progress();
    ASSERT_FALSE(ranks[0].connected(1)) << "stream " << i;
  }
  expect_a_connection(ranks);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_NE(said.find("refused"), std::string::npos) << said;
}

TEST(Tcp, WhoSendsNonsenseIsLost) {
  constexpr int streams = 200;
  for (int i = 0; i < streams; ++i) {
    Ranks ranks(3);
    // Rank 1 is not what it seems.
    Greeting greeting(Ranks::identity(1, 3), call(ranks[0]), 0, base::now() + patience);
    ASSERT_TRUE(ranks.until([&] { return greeting.advance({}) == Greeting::State::open; }));
    const base::Descriptor socket = greeting.take();
    std::vector<std::byte> in(100'000, std::byte{3});
    Transfer receive = transfer(1, 2, in);
    ranks[0].recv(receive);
    base::Random random(static_cast<std::uint64_t>(i));
    Header header = header_of(static_cast<Word>(1 + random.below(7)), receive.tag);
    header.size = random.once_in(2) ? in.size() : random.next();
    header.handle = random.next();
    header.place = random.once_in(2) ? 1ull << 32 : random.next();
    std::vector<std::byte> bytes(sizeof header + random.below(300));
    std::memcpy(bytes.data(), &header, sizeof header);
    for (std::byte& one : std::span(bytes).subspan(sizeof header)) one = static_cast<std::byte>(random.next());
    if (random.once_in(2)) bytes[random.below(sizeof header)] ^= static_cast<std::byte>(1 + random.below(255));
    write_all(socket.get(), bytes);
    shutdown(socket.get(), SHUT_WR);
    ASSERT_TRUE(ranks.until([&] { return receive.state != State::pending; })) << "stream " << i;
    EXPECT_NE(receive.state, State::done) << "stream " << i;
    EXPECT_TRUE(std::ranges::all_of(in, [](std::byte one) { return one == std::byte{3}; })) << "stream " << i;
    std::array<std::byte, 4> out{}, got{std::byte{1}};
    Transfer send = transfer(0, 1, out), good = transfer(2, 1, got);
    ranks[2].send(send);
    ranks[0].recv(good);
    ASSERT_TRUE(ranks.until([&] { return good.state != State::pending; })) << "stream " << i;
    EXPECT_EQ(good.state, State::done) << "others are served as before, stream " << i;
  }
}

TEST(Tcp, AHeaderThatMeansNothingEndsTheConnection) {
  std::vector<std::byte> in(100'000);
  const auto header = [&](Word word, std::uint64_t size) {
    Header made = header_of(word, {.context = 4, .message = 2});
    made.size = size;
    return made;
  };
  std::vector<Header> wrong(5, header(Word::announce, in.size()));
  wrong[0].start ^= 1;
  wrong[1].lane = lanes;
  wrong[2].word = Word{0};
  wrong[3].word = Word{99};
  wrong[4].zero = 1;
  wrong.push_back(header(Word::bytes, eager + 1));
  wrong.push_back(header(Word::bytes, ~std::uint64_t{0}));
  wrong.push_back(header(Word::data, in.size()));  // for no place
  for (const Header& one : wrong) {
    Ranks ranks(2);
    Greeting greeting(Ranks::identity(1, 2), call(ranks[0]), 0, base::now() + patience);
    ASSERT_TRUE(ranks.until([&] { return greeting.advance({}) == Greeting::State::open; }));
    Transfer receive = transfer(1, 2, in);
    ranks[0].recv(receive);
    write_all(greeting.socket(), std::as_bytes(std::span(&one, 1)));
    EXPECT_TRUE(ranks.until([&] { return receive.state == State::lost; })) << &one - wrong.data();
  }
}

TEST(Tcp, BytesOfAnotherSizeEndTheConnection) {
  std::vector<std::byte> in(100'000, std::byte{3});
  Ranks ranks(2);
  Greeting greeting(Ranks::identity(1, 2), call(ranks[0]), 0, base::now() + patience);
  ASSERT_TRUE(ranks.until([&] { return greeting.advance({}) == Greeting::State::open; }));
  Transfer receive = transfer(1, 2, in);
  ranks[0].recv(receive);
  Header header = header_of(Word::announce, receive.tag), answer;
  header.size = in.size();
  write_all(greeting.socket(), std::as_bytes(std::span(&header, 1)));
  ASSERT_TRUE(ranks.until([&] {
    return recv(greeting.socket(), &answer, sizeof answer, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof answer);
  }));
  EXPECT_EQ(answer.word, Word::ready);
  header = header_of(Word::data, receive.tag);
  header.place = answer.place;
  header.size = in.size() + 1;
  write_all(greeting.socket(), std::as_bytes(std::span(&header, 1)));
  EXPECT_TRUE(ranks.until([&] { return receive.state == State::lost; }));
}

TEST(Tcp, AReceiverKeepsNoMoreThanItsRoom) {
  constexpr std::size_t count = 2000, size = 1024, most = 256 << 10;
  Ranks ranks(2);
  std::vector<std::vector<std::byte>> out, in;
  std::vector<Transfer> sends, receives;
  for (std::uint32_t i = 0; i < count; ++i) {
    out.emplace_back(size, static_cast<std::byte>(i * 7));
    in.emplace_back(size);
    sends.push_back(transfer(1, i, out.back()));
    receives.push_back(transfer(0, i, in.back()));
  }
  for (Transfer& send : sends) ranks[0].send(send);
  for (int i = 0; i < 1000; ++i) ranks.progress();
  const auto done = static_cast<std::size_t>(std::ranges::count(sends, State::done, &Transfer::state));
  EXPECT_LE(done * size, most);
  EXPECT_GT(done * size, most / 2);
  for (std::size_t i = count; i-- > 0;) ranks[1].recv(receives[i]);
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(receives, State::done, &Transfer::state) == count; }));
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(sends, State::done, &Transfer::state) == count; }));
  EXPECT_EQ(in, out);
  // And again: the room is given back.
  for (Transfer& send : sends) ranks[0].send(send);
  EXPECT_GT(static_cast<std::size_t>(std::ranges::count(sends, State::done, &Transfer::state)) * size, most / 2);
  for (Transfer& receive : receives) ranks[1].recv(receive);
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(receives, State::done, &Transfer::state) == count; }));
}

TEST(Tcp, LargeMessagesComeOneAfterTheOther) {
  constexpr int senders = 4;
  constexpr std::size_t size = 8 << 20;
  Ranks ranks(senders + 1, 1);
  std::vector<std::byte> out(size, std::byte{9});
  std::vector<std::vector<std::byte>> in(senders, std::vector<std::byte>(size));
  std::vector<Transfer> sends, receives;
  for (Peer peer = 1; peer <= senders; ++peer) {
    sends.push_back(transfer(0, 1, out));
    receives.push_back(transfer(peer, 1, in[static_cast<std::size_t>(peer - 1)]));
  }
  for (std::size_t i = 0; i < senders; ++i) {
    ranks[static_cast<Peer>(i + 1)].send(sends[i]);
    ranks[0].recv(receives[i]);
  }
  const auto begun = [&](std::size_t i) {
    return receives[i].state == State::pending && in[i].front() == std::byte{9};
  };
  int most = 0;
  ASSERT_TRUE(ranks.until([&] {
    int now = 0;
    for (std::size_t i = 0; i < senders; ++i) now += begun(i) ? 1 : 0;
    most = std::max(most, now);
    return std::ranges::count(receives, State::done, &Transfer::state) == senders;
  }));
  EXPECT_EQ(most, 1);
  for (const auto& one : in) EXPECT_EQ(one, out);
}

TEST(Tcp, ASenderThatComputesKeepsNobodyFromHis) {
  constexpr std::size_t size = 1 << 20;
  Ranks ranks(3, 1);
  std::vector<std::byte> out(size, std::byte{9}), first(size), second(size);
  Transfer busy = transfer(0, 1, out), other = transfer(0, 1, out);
  Transfer from_busy = transfer(1, 1, first), from_other = transfer(2, 1, second);
  ranks[1].send(busy);
  ranks[0].recv(from_busy);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  // Rank 1 does not come back to Tutti.
  ranks[2].send(other);
  ranks[0].recv(from_other);
  const std::uint64_t end = base::now() + patience;
  while (from_other.state == State::pending && base::now() < end) ranks[0].progress(), ranks[2].progress();
  EXPECT_EQ(from_other.state, State::done);
  EXPECT_EQ(second, out);
  ASSERT_TRUE(ranks.until([&] { return from_busy.state == State::done; }));
}

}  // namespace
}  // namespace tutti::transport::tcp
