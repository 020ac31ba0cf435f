// SPDX-License-Identifier: BSD-3-Clause
#include "host/door.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
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

}  // namespace

Door::Door(int descriptor)
    : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), descriptor_(descriptor) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t named = sizeof address;
  if (!socket_ || bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) != 0 ||
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &named) != 0 || named != length)
    throw Error(Cause::system, std::string("no Unix socket to be woken at: ") + std::strerror(errno));
  std::memcpy(&name_, address.sun_path + 1, digits);
}

void Door::knock(std::uint64_t name) const {
  const sockaddr_un address = address_of(name);
  // One that cannot be delivered need not be: nobody is there, or others that knocked before are not heard yet.
  sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
}

int Door::sleep(std::uint64_t nanoseconds) const {
  std::array<pollfd, 2> awaited{{{socket_.get(), POLLIN, 0}, {descriptor_, POLLIN, 0}}};
  const timespec time{static_cast<time_t>(nanoseconds / 1'000'000'000u),
                      static_cast<long>(nanoseconds % 1'000'000'000u)};
  const int count = ppoll(awaited.data(), awaited.size(), &time, nullptr);
  if (count < 0) return EINTR;
  if (awaited[0].revents != 0)
    while (recv(socket_.get(), nullptr, 0, MSG_DONTWAIT) >= 0) {
    }
  return count == 0 ? ETIMEDOUT : 0;
}

}  // namespace tutti::host
