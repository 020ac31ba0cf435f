// SPDX-License-Identifier: BSD-3-Clause
#include "host/system_call.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/proc.hpp"
#include "base/utf8.hpp"

namespace tutti::host {

namespace {

struct Known {
  long number;
  std::string_view name;
  bool has_descriptor = false;  ///< As its first argument.
  std::string_view purpose{};
};

/// Those that programs sleep in.
constexpr Known known[] = {
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_pread64, "pread", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_sendto, "sendto", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_connect, "connect", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_ftruncate, "ftruncate", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_getdents64, "getdents", true},
    {SYS_close, "close", true},
    {SYS_openat, "openat", false, "for a file to be opened"},
    {SYS_epoll_pwait, "epoll_wait", true},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_wait", true},
#endif
    {SYS_ppoll, "poll", false, "for input or output"},
    {SYS_pselect6, "select", false, "for input or output"},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", true},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", false, "for input or output"},
    {SYS_select, "select", false, "for input or output"},
    {SYS_open, "open", false, "for a file to be opened"},
    {SYS_pause, "pause", false, "for a signal"},
#endif
    {SYS_rt_sigsuspend, "sigsuspend", false, "for a signal"},
    {SYS_rt_sigtimedwait, "sigtimedwait", false, "for a signal"},
    {SYS_nanosleep, "nanosleep", false, "for time to pass"},
    {SYS_clock_nanosleep, "clock_nanosleep", false, "for time to pass"},
    {SYS_wait4, "wait4", false, "for a process that it has started"},
    {SYS_waitid, "waitid", false, "for a process that it has started"},
    {SYS_futex, "futex", false, "for a thread or process that shares memory with it"},
};

const Known* find(long number) {
  const auto* const found = std::ranges::find(known, number, &Known::number);
  return found == std::end(known) ? nullptr : found;
}

}  // namespace

std::string SystemCall::name() const {
  const Known* const found = find(number);
  return found != nullptr ? std::string(found->name) : "system call " + std::to_string(number);
}

std::string SystemCall::text() const {
  const Known* const found = find(number);
  std::string text = "in " + name();
  if (found != nullptr && !found->purpose.empty()) text += ", " + std::string(found->purpose);
  if (descriptor < 0) return text;
  const std::string which = "descriptor " + std::to_string(descriptor);
  return text + " of " + (file.empty() ? which : base::printable(file) + " (" + which + ")");
}

std::optional<SystemCall> system_call_of(pid_t pid) {
  // "0 0x5 0x7ffd… …", "running", or "-1 …" outside of system calls.
  std::istringstream said(base::read_text(base::proc(pid, "syscall")));
  SystemCall call;
  unsigned long first = 0;
  if (!(said >> call.number) || call.number < 0 || !(said >> std::hex >> first)) return std::nullopt;
  const Known* const found = find(call.number);
  if (found == nullptr || !found->has_descriptor || first > std::numeric_limits<int>::max()) return call;
  call.descriptor = static_cast<int>(first);
  call.file = base::read_link(base::proc(pid, "fd/" + std::to_string(call.descriptor)));
  return call;
}

}  // namespace tutti::host
