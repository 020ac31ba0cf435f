// SPDX-License-Identifier: BSD-3-Clause
// How connections of tcp come about: calls that meet, those that take long, strangers.
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/random.hpp"
#include "tcp_ranks.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {
namespace {

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

TEST(Tcp, ListensWhereItCan) {
  Options options;
  options.identity = Ranks::identity(0, 2);
  options.listen = {"tcp:192.0.2.1:0", "tcp:127.0.0.1:0", "tcp:[2001:db8::1]:0"};
  const std::string addresses = listen(options)->addresses();
  EXPECT_EQ(addresses.substr(0, addresses.rfind(':')), "tcp:127.0.0.1");
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

TEST(Tcp, SaysWhatTheAddressesOfALostPeerAnswered) {
  const base::Descriptor full = listen_at(*Address::parse("tcp:127.0.0.1:0")),
                         stranger = base::Descriptor(dup(full.get()));
  Options options;
  options.identity = Ranks::identity(0, 3);
  options.listen = {"tcp:127.0.0.1:0"};
  options.patience = 200'000'000;
  options.find = [&](Peer peer) { return "tcp:127.0.0.1:1" + (peer == 1 ? "" : " " + Address::of(full.get()).text()); };
  const auto alone = tcp::listen(options);
  const auto lost = [&](Peer peer) {
    alone->call(peer);
    for (const std::uint64_t end = base::now() + patience; alone->fate(peer) == Fate::well && base::now() < end;) {
      alone->progress();
      // Answers as no rank does.
      if (const base::Descriptor one = accept_from(stranger.get())) write_all(one.get(), std::vector<std::byte>(100));
    }
    return alone->unreached(peer);
  };
  EXPECT_EQ(lost(1), "tcp:127.0.0.1:1 (Connection refused)");
  EXPECT_EQ(alone->fate(1), Fate::ended);
  EXPECT_EQ(lost(2),
            "tcp:127.0.0.1:1 (Connection refused), " + Address::of(full.get()).text() + " (another program answers)");
  EXPECT_EQ(alone->fate(2), Fate::silent);
}

/// A listener where nobody gets in any more, for want of room: its process computes.
class Crowded {
 public:
  Crowded() {
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    for (int i = 0; i < 4; ++i) callers_.push_back(begin_call(Address::of(listener_.get())));
  }
  std::string address() const { return Address::of(listener_.get()).text(); }
  base::Descriptor next() const { return accept_from(listener_.get()); }

 private:
  base::Descriptor listener_ = listen_at(*Address::parse("tcp:127.0.0.1:0"));
  std::vector<base::Descriptor> callers_;
};

TEST(Tcp, WhoHasTooManyCallersIsWaitedForWhereItsHostAnswers) {
  for (const bool answers : {false, true}) {
    const Crowded crowded;
    std::array<std::unique_ptr<Tcp>, 3> ranks;
    for (const Peer rank : {0, 2}) {
      Options options;
      options.identity = Ranks::identity(rank, 3);
      options.listen = {"tcp:127.0.0.1:0"};
      options.patience = 100'000'000;
      options.find = [&](Peer peer) { return peer == 1 ? crowded.address() : ranks[2]->addresses(); };
      ranks[static_cast<std::size_t>(rank)] = tcp::listen(options);
    }
    Tcp& caller = *ranks[0];
    const auto until = [&](std::uint64_t nanoseconds, auto done) {
      for (const std::uint64_t end = base::now() + nanoseconds; !done() && base::now() < end; caller.progress())
        ranks[2]->progress();
      return done();
    };
    if (answers) {
      caller.call(2);
      ASSERT_TRUE(until(patience, [&] { return caller.connected(2); }));
    }
    testing::internal::CaptureStderr();
    caller.call(1);
    const bool lost = until(answers ? 700'000'000 : patience, [&] { return caller.fate(1) != Fate::well; });
    EXPECT_EQ(lost, !answers);
    const std::string said = testing::internal::GetCapturedStderr();
    const auto told = said.find("rank 1 has not answered at " + crowded.address() + " (no answer), but others");
    EXPECT_EQ(told != std::string::npos, answers) << said;
    EXPECT_EQ(said.find("rank 1", said.find("rank 1") + 1), std::string::npos) << "said twice: " << said;
    EXPECT_EQ(caller.unreached(1), lost ? crowded.address() + " (no answer)" : "");
  }
}

TEST(Tcp, WhoComputesWhenCalledIsWaitedFor) {
  Ranks ranks(2, 4, 100'000'000);
  std::array<std::byte, 4> out{std::byte{7}}, in{};
  Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in);
  ranks[0].send(send);
  for (const std::uint64_t end = base::now() + 1'500'000'000; base::now() < end;) ranks[0].progress();
  ranks[1].recv(receive);
  EXPECT_TRUE(ranks.until([&] { return receive.state != State::pending; }));
  EXPECT_EQ(receive.state, State::done);
}

/// Rank 0, which soon takes callers for strangers.
class HastyAnswerer : public ::testing::Test {
 protected:
  HastyAnswerer() {
    Options options;
    options.identity = Ranks::identity(0, 2);
    options.listen = {"tcp:127.0.0.1:0"};
    options.stranger = 1'000'000'000;
    called_ = listen(options);
  }
  void look_for(std::uint64_t nanoseconds) {
    for (const std::uint64_t end = base::now() + nanoseconds; base::now() < end;) called_->progress();
  }
  void expect_to_let_in(base::Descriptor socket) {
    Greeting caller(Ranks::identity(1, 2), std::move(socket), Greeting::Callee{0});
    const std::uint64_t end = base::now() + patience;
    while (!opens(caller) && caller.state() < Greeting::State::refused && base::now() < end) called_->progress();
    EXPECT_EQ(caller.state(), Greeting::State::open);
    EXPECT_TRUE(called_->connected(1));
  }
  std::unique_ptr<Tcp> called_;
};

TEST_F(HastyAnswerer, DoesNotHangUpForWhatItDidNotSee) {
  base::Descriptor socket = call(*called_);
  std::vector<base::Descriptor> strangers;
  for (int i = 0; i < 200; ++i) strangers.push_back(call(*called_));
  called_->progress();
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  expect_to_let_in(std::move(socket));
}

TEST_F(HastyAnswerer, WaitsForACallerThatComputes) {
  base::Descriptor socket = call(*called_);
  look_for(1'500'000'000);
  expect_to_let_in(std::move(socket));
}

TEST_F(HastyAnswerer, HangsUpOnStrangersThatNeedMuchRoom) {
  std::vector<base::Descriptor> strangers;
  for (int i = 0; i < 300; ++i) strangers.push_back(call(*called_));
  base::Descriptor socket = call(*called_);  // behind all of them
  const auto closed = [&] {
    return std::ranges::count_if(strangers, [](const base::Descriptor& one) {
      std::byte byte;
      return recv(one.get(), &byte, 1, MSG_DONTWAIT) == 0;
    });
  };
  for (const std::uint64_t end = base::now() + patience; closed() < 300 - 256 && base::now() < end;)
    called_->progress();
  EXPECT_GE(closed(), 300 - 256);
  EXPECT_LT(closed(), 300);
  expect_to_let_in(std::move(socket));
}

TEST(Tcp, ManyMayCallAtOnce) {
  constexpr int size = 300;
  Ranks ranks(size);
  for (Peer rank = 1; rank < size; ++rank) ranks[rank].call(0);
  EXPECT_TRUE(ranks.until([&] {
    int standing = 0;
    for (Peer rank = 1; rank < size; ++rank) standing += ranks[0].connected(rank) && ranks[rank].connected(0) ? 1 : 0;
    return standing == size - 1;
  }));
}

/// Rank 0, and what its call to rank 1 meets.
class CallerAlone : public ::testing::Test {
 protected:
  explicit CallerAlone(std::uint64_t patience_of_hosts = Options{}.patience) {
    Options options;
    options.patience = patience_of_hosts;
    options.identity = Ranks::identity(0, 2);
    options.listen = {"tcp:127.0.0.1:0"};
    options.find = [this](Peer) { return Address::of(listener_.get()).text(); };
    caller_ = listen(options);
    caller_->call(1);
  }
  base::Descriptor next() {
    base::Descriptor socket;
    for (const std::uint64_t end = base::now() + patience; !socket && base::now() < end; caller_->progress())
      socket = next_unseen();
    EXPECT_TRUE(socket);
    return socket;
  }
  /// Without the caller's doing.
  base::Descriptor next_unseen() { return accept_from(listener_.get()); }
  void expect_connection_at_the_next_call() {
    Greeting greeting(Ranks::identity(1, 2), next(), Greeting::Until{base::now() + patience});
    while (greeting.advance() < Greeting::State::known) caller_->progress();
    greeting.let_in();
    const std::uint64_t end = base::now() + patience;
    while (!caller_->connected(1) && base::now() < end) caller_->progress();
    EXPECT_TRUE(caller_->connected(1));
  }
  std::unique_ptr<Tcp> caller_;

 private:
  base::Descriptor listener_ = listen_at(*Address::parse("tcp:127.0.0.1:0"));
};

TEST_F(CallerAlone, CallsAgainWhenItWasTooSlow) {
  for (int times = 0; times < 3; ++times) {
    // Its caller has computed for so long that it was taken for nobody.
    const base::Descriptor closed = next();
  }
  expect_connection_at_the_next_call();
}

class HastyCaller : public CallerAlone {
 protected:
  HastyCaller() : CallerAlone(1'000'000'000) {}
};

TEST_F(HastyCaller, ForgivesWhatHappensWhileItComputes) {
  {
    const base::Descriptor closed = next_unseen();
    ASSERT_TRUE(closed);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  expect_connection_at_the_next_call();
}

TEST_F(HastyCaller, DoesNotTakeWhoHangsUpForOneWhoIsNoMore) {
  for (const std::uint64_t end = base::now() + patience; caller_->fate(1) == Fate::well && base::now() < end;) {
    const base::Descriptor closed = next_unseen();
    caller_->progress();
  }
  EXPECT_EQ(caller_->fate(1), Fate::silent);
}

TEST_F(CallerAlone, CallsAgainWhenItWasResetBeforeItLooked) {
  {
    const base::Descriptor reset = next_unseen();
    const linger at_once{1, 0};
    ASSERT_EQ(setsockopt(reset.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  }
  expect_connection_at_the_next_call();
}

TEST_F(CallerAlone, LosesWhoDoesNotWelcomeIt) {
  Greeting greeting(Ranks::identity(1, 2), next(), Greeting::Until{base::now() + patience});
  while (greeting.advance() < Greeting::State::known) caller_->progress();
  const base::Descriptor closed = greeting.take();
  std::array<std::byte, 4> bytes{};
  Transfer receive = transfer(1, 1, bytes);
  caller_->recv(receive);
  shutdown(closed.get(), SHUT_RDWR);
  const std::uint64_t end = base::now() + patience;
  while (receive.state == State::pending && base::now() < end) caller_->progress();
  EXPECT_EQ(receive.state, State::lost);
}

TEST_F(CallerAlone, LosesWhoDiesWhileTheirCallsCross) {
  std::optional<Greeting> answerer(std::in_place, Ranks::identity(1, 2), next(), Greeting::Until{~std::uint64_t{0}});
  std::optional<Greeting> caller(std::in_place, Ranks::identity(1, 2), tcp::call(*caller_), Greeting::Callee{0});
  const auto until = [&](auto done) {
    for (const std::uint64_t end = base::now() + patience; !done() && base::now() < end;) caller_->progress();
    EXPECT_TRUE(done());
  };
  // Rank 0 has answered: its own call comes first, and that of rank 1, whom it knows, is held back.
  until([&] { return answerer->advance() == Greeting::State::known; });
  until([&] { return opens(*caller) || caller->state() == Greeting::State::welcome; });
  for (const std::uint64_t end = base::now() + 50'000'000; base::now() < end;) caller_->progress();
  std::array<std::byte, 4> bytes{};
  Transfer receive = transfer(1, 1, bytes);
  caller_->recv(receive);
  answerer.reset();
  caller.reset();
  until([&] { return receive.state != State::pending; });
  EXPECT_EQ(receive.state, State::lost);
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

}  // namespace
}  // namespace tutti::transport::tcp
