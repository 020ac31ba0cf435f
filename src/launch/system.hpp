// SPDX-License-Identifier: BSD-3-Clause
// What the launcher and the rendezvous ask of Linux, in one place.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "tutti/error.hpp"

namespace tutti::launch {

/// `what`, the reason that has this number, and what to do about it.
std::string system_text(const std::string& what, int number);
/// An Error (system) with that text; the reason is in errno.
Error system_error(const std::string& what);
Error system_error(const std::string& what, int number);

/// Who is at the other end of a Unix socket. pid is 0 where it is not visible from here.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
/// Throws Error (system).
Peer peer_of(int socket);

/// A descriptor that becomes readable when the process ends; empty where the kernel has none.
base::Descriptor watch_process(pid_t pid);

/// Lets this process open that many files, if its hard limit allows: else as many as that does. The limits before.
rlimit allow_open_files(rlim_t wanted);

/// "SIGKILL (Killed)".
std::string signal_name(int number);

/// The abstract Unix address "unix:@name" as the system wants it.
struct Address {
  static constexpr std::string_view prefix = "unix:@";
  static constexpr std::size_t longest = 107;
  /// Throws Error (usage) for any other text.
  explicit Address(std::string_view text);
  std::string name;
};
/// Where a job's launcher listens: this and the job's number in 16 hexadecimal digits.
inline constexpr std::string_view job_address_prefix = "unix:@tutti-";
std::string job_address(std::uint64_t job);
/// Where a rank listens that hands out the memory of its host, until all there have it.
std::string door_address(std::uint64_t door);
/// A listening, non-blocking socket. Throws Error (system).
base::Descriptor listen_at(const Address& address);
/// A connected, blocking socket. Throws Error (system).
base::Descriptor connect_to(const Address& address);

}  // namespace tutti::launch
