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
  /// Who sleeps here is woken as well when this descriptor, which stays the caller's, becomes readable. Throws Error
  /// (system).
  explicit Door(int descriptor);

  /// For `knock`, also by other processes.
  std::uint64_t name() const { return name_; }
  /// Wakes whoever sleeps at that door, or will sleep there next. One that nobody sleeps at costs nothing but time.
  void knock(std::uint64_t name) const;
  /// Until a knock or what the descriptor says, and `nanoseconds` at most. Returns 0, EINTR or ETIMEDOUT.
  int sleep(std::uint64_t nanoseconds) const;

 private:
  base::Descriptor socket_;
  int descriptor_;
  std::uint64_t name_ = 0;
};

}  // namespace tutti::host
