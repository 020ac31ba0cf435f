// SPDX-License-Identifier: BSD-3-Clause
// What tcp does where the system gets in its way: forks of the program's, and descriptors that run out.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <thread>

#include "../limits.hpp"
#include "tcp_ranks.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr int most_descriptors = 1024;

/// A child that sleeps as long as this stands, as the helpers of Python's multiprocessing do.
class Child {
 public:
  explicit Child(pid_t (*make)() = fork) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    base::Descriptor in(ends[0]);
    out_ = base::Descriptor(ends[1]);
    pid_ = make();
    if (pid_ != 0) return;
    close(out_.get());
    char byte;
    while (read(in.get(), &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }
  ~Child() {
    out_.reset();
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  base::Descriptor out_;
  pid_t pid_ = -1;
};

bool has_ended(int socket) {
  std::byte some[64];
  for (;;) {
    const ssize_t n = recv(socket, some, sizeof some, MSG_DONTWAIT);
    if (n <= 0) return n == 0 || errno == ECONNRESET;
  }
}

TEST(TcpCongestion, IsHeededByLosses) {
  const base::Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto take = [&](std::string_view control) {
    return setsockopt(made.get(), IPPROTO_TCP, TCP_CONGESTION, control.data(),
                      static_cast<socklen_t>(control.size())) == 0;
  };
  const auto control = [&] {
    char name[16] = {};
    socklen_t length = sizeof name - 1;
    EXPECT_EQ(getsockopt(made.get(), IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
    return std::string(name);
  };
  ASSERT_TRUE(take("reno")) << "which every system has";
  EXPECT_EQ(heed_loss_alone(made.get()), "");
  EXPECT_EQ(control(), "reno");
  const bool modelled = take("bbr");  // which some do not have
  EXPECT_EQ(heed_loss_alone(made.get()), modelled ? "reno instead of bbr" : "");
  EXPECT_EQ(control(), "reno");
}

TEST(TcpCongestion, OfPeersThatAreNearIsHeededByLosses) {
  const base::Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string changed = heed_loss_alone(made.get());  // of the system's own choice
  Ranks ranks(2);
  EXPECT_EQ(ranks[0].suit(0), "");
  ranks[0].call(1);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  for (Peer rank : {0, 1}) EXPECT_EQ(ranks[rank].suit(0), changed.empty() ? "" : "congestion control " + changed);
}

TEST(TcpForks, AChildHidesNoDeath) {
  Ranks ranks(2);
  std::array<std::byte, 4> bytes{};
  Transfer receive = transfer(1, 1, bytes);
  ranks[0].call(1);
  ranks[0].recv(receive);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  const Address where = parse_all(ranks[1].addresses()).front();
  const Child child;
  ranks.end(1);
  EXPECT_TRUE(ranks.until([&] { return receive.state != State::pending; }));
  EXPECT_EQ(receive.state, State::lost);
  EXPECT_EQ(ranks[0].fate(1), Fate::ended);
  // Nor does it answer in the place of the dead.
  EXPECT_TRUE(ranks.until([&] {
    const base::Descriptor late = begin_call(where);
    return late ? reach_of(late.get()) == Reach::absent : errno == ECONNREFUSED;
  }));
}

TEST(TcpForks, AChildHoldsNoCallThatIsUnderWay) {
  const base::Descriptor listener = listen_at(*Address::parse("tcp:127.0.0.1:0"));
  Options options;
  options.identity = Ranks::identity(0, 2);
  options.listen = {"tcp:127.0.0.1:0"};
  options.find = [&](Peer) { return Address::of(listener.get()).text(); };
  std::unique_ptr<Tcp> rank = tcp::listen(options);
  rank->call(1);
  base::Descriptor called, stranger = call(*rank);
  const auto until = [&](auto done) {
    for (const std::uint64_t end = base::now() + patience; !done() && base::now() < end;)
      if (rank) rank->progress();
    EXPECT_TRUE(done());
  };
  until([&] { return called || (called = accept_from(listener.get())); });
  for (int i = 0; i < 100; ++i) rank->progress();  // the stranger is let as far as the door
  const Child child;
  rank.reset();
  until([&] { return has_ended(called.get()); });
  until([&] { return has_ended(stranger.get()); });
}

/// Every socket of this process, by its number.
template <class Visit>
void for_each_socket(Visit visit) {
  for (int number = 0; number < most_descriptors; ++number) {
    struct stat found;
    if (fstat(number, &found) == 0 && S_ISSOCK(found.st_mode)) visit(number);
  }
}

TEST(TcpForks, FindNoThreadInTheMiddleOfIt) {
  std::set<int> before;
  for_each_socket([&](int number) { before.insert(number); });
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load(std::memory_order_relaxed)) {  // relaxed: it carries nothing
      Ranks ranks(3);
      for (const Peer peer : {1, 2}) ranks[0].call(peer);
      ranks.until([&] { return ranks[0].connected(1) && ranks[0].connected(2); });
      ranks[0].peer_lost(1);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      int left = 0;
      for_each_socket([&](int number) { left += before.contains(number) ? 0 : 1; });
      _exit(std::min(left, 100));
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "fork " << i << ": the child has " << WEXITSTATUS(status) << " sockets";
    if (HasFailure()) break;
  }
  stop.store(true, std::memory_order_relaxed);  // relaxed: as above
  other.join();
}

/// How often something was there to progress in that time, by who sleeps when there is nothing.
int wakes(Tcp& rank, std::uint64_t nanoseconds) {
  int count = 0;
  for (const std::uint64_t end = base::now() + nanoseconds; base::now() < end; ++count) {
    pollfd something{rank.descriptor(), POLLIN, 0};
    poll(&something, 1, 50);
    rank.progress();
  }
  return count;
}

constexpr std::uint64_t some_time = 500'000'000;
constexpr int few = 50;

TEST(TcpForks, ASocketThatAChildKeepsIsNotLookedAtForEver) {
  Ranks ranks(2);
  ranks[0].call(1);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  const Child child(_Fork);  // one of whom nobody here hears
  ranks[0].peer_lost(1);
  std::array<std::byte, 4> bytes{};
  Transfer send = transfer(0, 1, bytes);
  ranks[1].send(send);  // arrives at the socket that the child has
  EXPECT_LT(wakes(ranks[0], some_time), few);
  EXPECT_FALSE(ranks[0].progress());
}

TEST(TcpWithoutDescriptors, CallsAgainLater) {
  for (const char* const where : {"tcp:127.0.0.1:0", "unix:@"}) {
    Ranks ranks(2, 4, patience, where);
    std::array<std::byte, 4> out{std::byte{7}}, in{};
    Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in);
    {
      const NoDescriptors none;
      ranks[0].send(send);
      EXPECT_LT(wakes(ranks[0], some_time), few);
      ASSERT_EQ(ranks[0].fate(1), Fate::well);
    }
    ranks[1].recv(receive);
    EXPECT_TRUE(ranks.until([&] { return receive.state != State::pending || ranks[0].fate(1) != Fate::well; }));
    EXPECT_EQ(receive.state, State::done);
    EXPECT_EQ(in, out);
  }
}

TEST(TcpWithoutDescriptors, LosesInTheEnd) {
  Ranks ranks(2, 4, some_time);
  std::array<std::byte, 4> bytes{};
  Transfer receive = transfer(1, 1, bytes);
  const NoDescriptors none;
  ranks[0].call(1);
  ranks[0].recv(receive);
  EXPECT_TRUE(ranks.until([&] { return receive.state != State::pending; }));
  EXPECT_EQ(receive.state, State::lost);
  EXPECT_EQ(ranks[0].fate(1), Fate::silent) << "nothing says that it has ended";
}

TEST(TcpWithoutDescriptors, SleepsWhileItCannotLetCallersIn) {
  Ranks ranks(2);
  const base::Descriptor stranger = call(ranks[0]);
  {
    const NoDescriptors none;
    EXPECT_LT(wakes(ranks[0], some_time), few);
  }
  expect_a_connection(ranks);
}

TEST(Tcp, ManySilentStrangersKeepItFromNoSleep) {
  constexpr int many = 300;  // more than are let in at a time
  Ranks ranks(2);
  std::vector<base::Descriptor> strangers;
  for (int i = 0; i < many; ++i) {
    strangers.push_back(call(ranks[0]));
    ranks[0].progress();
  }
  wakes(ranks[0], some_time);
  EXPECT_LT(wakes(ranks[0], some_time), few);
  strangers.clear();
  expect_a_connection(ranks);
}

}  // namespace
}  // namespace tutti::transport::tcp
