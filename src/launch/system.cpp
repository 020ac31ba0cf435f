// SPDX-License-Identifier: BSD-3-Clause
#include "launch/system.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "base/words.hpp"

namespace tutti::launch {

namespace {

struct Socket {
  sockaddr_un address{};
  socklen_t length = 0;
};

Socket make_socket(const Address& address) {
  Socket socket;
  socket.address.sun_family = AF_UNIX;
  // A leading zero byte makes the name abstract: it lives in the kernel, not in a directory.
  std::memcpy(socket.address.sun_path + 1, address.name.data(), address.name.size());
  socket.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + address.name.size());
  return socket;
}

base::Descriptor open_socket(int flags) {
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket) throw system_error("cannot open a Unix socket");
  return socket;
}

}  // namespace

std::string system_text(const std::string& what, int number) {
  const char* const advice =
      number == EMFILE ? "; raise the limit of open files (ulimit -n), or start fewer ranks" : "";
  return what + ": " + std::strerror(number) + advice;
}

Error system_error(const std::string& what, int number) { return Error(Cause::system, system_text(what, number)); }

Error system_error(const std::string& what) { return system_error(what, errno); }

Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    throw system_error("cannot ask who is at the other end of a socket");
  return {credentials.pid, credentials.uid};
}

base::Descriptor watch_process(pid_t pid) {
  if (pid <= 0) return {};
  return base::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

rlimit allow_open_files(rlim_t wanted) {
  rlimit found{};
  getrlimit(RLIMIT_NOFILE, &found);
  rlimit more = found;
  more.rlim_cur = std::min(std::max(found.rlim_cur, wanted), found.rlim_max);
  setrlimit(RLIMIT_NOFILE, &more);
  return found;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  const char* description = sigdescr_np(number);
  if (name == nullptr || description == nullptr) return "signal " + std::to_string(number);
  return "SIG" + std::string(name) + " (" + description + ")";
}

Address::Address(std::string_view text) {
  if (!text.starts_with(prefix) || text.size() == prefix.size() || text.size() - prefix.size() > longest ||
      text.find('\0') != std::string_view::npos)
    throw Error(Cause::usage,
                "TUTTI_STORE is \"" + std::string(text) +
                    "\", which is no address; it is tcp:HOST:PORT where rank 0 can be reached, or unix:@ and "
                    "a name of 1 to 107 bytes, as `tutti run` sets it");
  name = text.substr(prefix.size());
}

std::string job_address(std::uint64_t job) { return std::string(job_address_prefix) + base::hexadecimal(job); }

// Not with a job's prefix, and behind it no number: `tutti why` would take it for one.
std::string door_address(std::uint64_t door) {
  return std::string(job_address_prefix) + "door-" + base::hexadecimal(door);
}

base::Descriptor listen_at(const Address& address) {
  base::Descriptor socket = open_socket(SOCK_NONBLOCK);
  const Socket name = make_socket(address);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.length) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0)
    throw system_error("cannot listen at unix:@" + address.name);
  return socket;
}

base::Descriptor connect_to(const Address& address) {
  base::Descriptor socket = open_socket(0);
  const Socket name = make_socket(address);
  while (connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.length) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    throw system_error("cannot reach the launcher at unix:@" + address.name +
                       " (it has ended, or runs in another container or network namespace; start the program with "
                       "`tutti run`, or unset TUTTI_RANK and the others to run it alone)");
  }
  return socket;
}

}  // namespace tutti::launch
