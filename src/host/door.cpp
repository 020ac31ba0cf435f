// SPDX-License-Identifier: BSD-3-Clause
#include "host/door.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string>

#include "tutti/error.hpp"

namespace tutti::host {
namespace {

/// Of the names that the kernel gives to Unix sockets: five digits, behind a zero.
constexpr std::size_t digits = 5;
constexpr socklen_t length = offsetof(sockaddr_un, sun_path) + 1 + digits;

sockaddr_un address_of(std::uint64_t name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, &name, digits);
  return address;
}

/// epoll_pwait2, which Linux has since 5.11 (valgrind 3.19 has not, and filters of older containers refuse it, not all
/// with ENOSYS), or epoll_wait, whose times are milliseconds.
int wait_for(int set, epoll_event& first, std::uint64_t nanoseconds) {
  constexpr std::uint64_t second = 1'000'000'000, millisecond = 1'000'000;
#ifdef SYS_epoll_pwait2
  static std::atomic<bool> known{true};  // relaxed: whoever misses it asks once more
  if (known.load(std::memory_order_relaxed)) {
    const timespec time{static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
    const auto count = static_cast<int>(syscall(SYS_epoll_pwait2, set, &first, 1, &time, nullptr, 0));
    if (count >= 0 || errno == EINTR) return count;
    known.store(false, std::memory_order_relaxed);
  }
#endif
  const std::uint64_t most = std::min(nanoseconds, 60 * second);
  return epoll_wait(set, &first, 1, static_cast<int>((most + millisecond - 1) / millisecond));
}

}  // namespace

Door::Door(int set) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), set_(set) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t named = sizeof address;
  epoll_event knocked{};
  knocked.events = EPOLLIN;
  knocked.data.u64 = event;
  if (!socket_ || bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) != 0 ||
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &named) != 0 || named != length ||
      epoll_ctl(set_, EPOLL_CTL_ADD, socket_.get(), &knocked) != 0)
    throw Error(Cause::system, std::string("no Unix socket to be woken at: ") + std::strerror(errno));
  std::memcpy(&name_, address.sun_path + 1, digits);
}

void Door::knock(std::uint64_t name) const {
  const sockaddr_un address = address_of(name);
  // One that cannot be delivered need not be: nobody is there, or others that knocked before are not heard yet.
  sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
}

int Door::sleep(std::uint64_t nanoseconds) const {
  epoll_event first{};
  const int count = wait_for(set_, first, nanoseconds);
  if (count < 0) return EINTR;
  // A knock behind another event ends the next sleep at once.
  if (count > 0 && first.data.u64 == event)
    while (recv(socket_.get(), nullptr, 0, MSG_DONTWAIT) >= 0) {
    }
  return count == 0 ? ETIMEDOUT : 0;
}

}  // namespace tutti::host
