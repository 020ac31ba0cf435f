// SPDX-License-Identifier: BSD-3-Clause
// Where a process sleeps that waits for sockets too: no futex can be waited for together with them.
#pragma once

#include <cstdint>

#include "base/descriptor.hpp"

namespace tutti::host {

/// A datagram socket with a name that the kernel has chosen. Whoever knows the name can knock, also a stranger of this
/// host: that costs the sleeper a look.
class Door {
 public:
  /// The name of its own event in that set.
  static constexpr std::uint64_t event = ~std::uint64_t{0};

  /// Who sleeps here is woken as well when this set of epoll, which stays the caller's, has events; they stay in it.
  /// (To wait for the set beside a socket, by ppoll, costs a barrier of 4 to 16 hosts 3 to 5 % more.) Throws Error
  /// (system).
  explicit Door(int set);

  /// For `knock`, also by other processes.
  std::uint64_t name() const { return name_; }
  /// Wakes whoever sleeps at that door, or will sleep there next. One that nobody sleeps at costs nothing but time.
  void knock(std::uint64_t name) const;
  /// Until a knock or an event of the set, and `nanoseconds` at most. Returns 0, EINTR or ETIMEDOUT.
  int sleep(std::uint64_t nanoseconds) const;

 private:
  base::Descriptor socket_;
  int set_;
  std::uint64_t name_ = 0;
};

}  // namespace tutti::host
