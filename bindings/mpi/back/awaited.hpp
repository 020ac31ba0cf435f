// SPDX-License-Identifier: BSD-3-Clause
// Moving the MPI on without wanting anything of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/waiting.hpp"

namespace tutti::mpi::awaited {

/// May be looked for, from now until as many `end`s. Local.
void begin();
void end();
/// Of those who wait for messages of the MPI, which cannot ring.
class Companion : public host::Companion {
 public:
  std::uint64_t longest_sleep(std::uint64_t waited) const final {
    return std::clamp<std::uint64_t>(waited / 16, 20'000, 1'000'000);
  }
  /// Others' ranks on the same cores, whose messages are awaited, go on meanwhile.
  std::uint64_t yield_for() const final { return 20'000'000; }
};
/// Lets the MPI move on all that it has to do; nothing between `end` and `begin`.
void look();

}  // namespace tutti::mpi::awaited
