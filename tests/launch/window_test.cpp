// SPDX-License-Identifier: BSD-3-Clause
// What stands open beside the store: the window for `tutti why`.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "../limits.hpp"
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

}  // namespace
}  // namespace tutti::launch
