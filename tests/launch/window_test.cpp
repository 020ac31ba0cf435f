// SPDX-License-Identifier: BSD-3-Clause
// What stands open beside the store: the window for `tutti why`, and the door where a host's ranks get their memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <latch>
#include <thread>
#include <vector>

#include "../limits.hpp"
#include "../refusal.hpp"
#include "launch/handover.hpp"
#include "launch/window.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;
namespace tcp = transport::tcp;

constexpr std::uint64_t job = 4711;

/// Of all threads of this process.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(Window, SleepsWhileItCannotLetGuestsIn) {
  const Secret secret = random_secret();
  Window window(host::Segment::local(1, job), 0, secret, {"tcp:127.0.0.1:0"});
  const auto address = tcp::Address::parse(window.addresses());
  ASSERT_TRUE(address);
  base::Descriptor guest(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const NoDescriptors none;
    ASSERT_EQ(connect(guest.get(), address->system(), address->length()), 0);
    const auto begin = processor_time();
    std::this_thread::sleep_for(500ms);
    EXPECT_LT(processor_time() - begin, 100ms);
  }
  pollfd answer{guest.get(), POLLIN, 0};
  EXPECT_EQ(poll(&answer, 1, 10000), 1) << "it is let in when there is a descriptor for it";
}

TEST(Window, StaysShutWhereItCannotListen) {
  const Window window(host::Segment::local(1, job), 0, random_secret(), {"tcp:192.0.2.1:0"});
  EXPECT_EQ(window.addresses(), "");
}

TEST(Handover, SleepsWhileItCannotLetRanksIn) {
  const auto segment = host::Segment::create(2, job);
  const Secret secret = random_secret();
  const std::string where = job_address(random_job());
  Handover handover(*segment, secret, listen_at(Address(where)));
  base::Descriptor guest(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = tcp::Address::parse(where);
  testing::internal::CaptureStderr();
  std::latch begun(1);  // sanitizers need descriptors where a thread begins
  std::thread server([&] {
    begun.count_down();
    EXPECT_EQ(handover.serve(Deadline(Patience{30s})), 0);
  });
  begun.wait();
  {
    const NoDescriptors none;
    EXPECT_EQ(connect(guest.get(), address->system(), address->length()), 0);
    const auto begin = processor_time();
    std::this_thread::sleep_for(500ms);
    EXPECT_LT(processor_time() - begin, 100ms);
  }
  Deadline deadline(Patience{30s});
  Conversation rank(std::move(guest), "who serves");
  rank.send(Hello{.rank = 1, .size = 2, .pid = getpid(), .secret = secret}, deadline);
  EXPECT_EQ(rank.expect<Welcome>(deadline).job, job);
  server.join();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("ulimit -n"), said.npos) << said;
}

TEST(Handover, KeepsFewStrangersAlsoWhenRanksHaveCome) {
  constexpr std::size_t most = 64 + 2;  // and two ranks are missing
  const auto segment = host::Segment::create(3, job);
  const Secret secret = random_secret();
  const Address where(job_address(random_job()));
  Handover handover(*segment, secret, listen_at(where));
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const base::Descriptor news(ends[0]);
  base::Descriptor enough(ends[1]);
  const auto hear = [&] {
    char byte;
    if (read(news.get(), &byte, 1) == 0) throw Error(Cause::system, "enough");
  };
  std::thread server([&] {
    EXPECT_EQ(refusal([&] { handover.serve(Deadline(Patience{30s}), {news.get(), hear}); }, Cause::system), "enough");
  });
  EXPECT_EQ(write(enough.get(), "", 1), 1);  // this news changes nothing
  std::vector<base::Descriptor> strangers;
  while (strangers.size() < most) strangers.push_back(connect_to(where));
  Deadline deadline(Patience{30s});
  Conversation rank(where);
  rank.send(Hello{.rank = 1, .size = 3, .pid = getpid(), .secret = secret}, deadline);
  EXPECT_EQ(rank.expect<Welcome>(deadline).job, job);
  while (strangers.size() < 3 * most) strangers.push_back(connect_to(where));
  const auto left = [&] {
    char byte;
    return std::ranges::count_if(
        strangers, [&](const base::Descriptor& one) { return recv(one.get(), &byte, 1, MSG_DONTWAIT) != 0; });
  };
  for (int i = 0; i < 100 && left() > static_cast<std::ptrdiff_t>(most); ++i) std::this_thread::sleep_for(50ms);
  EXPECT_LE(left(), static_cast<std::ptrdiff_t>(most));
  enough.reset();
  server.join();
}

}  // namespace
}  // namespace tutti::launch
