// SPDX-License-Identifier: BSD-3-Clause
// Moving the MPI on without wanting anything of it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti::mpi::awaited {

/// May be looked for, from now until as many `end`s. Local.
void begin();
void end();
/// How long (nanoseconds) one who has waited so long for a message of the MPI may sleep: it cannot ring.
inline std::uint64_t longest_sleep(std::uint64_t waited) {
  return std::clamp<std::uint64_t>(waited / 16, 20'000, 1'000'000);
}
/// How long he yields before: others' ranks on the same cores, whose messages he may await, go on meanwhile.
inline constexpr std::uint64_t yield_for = 20'000'000;
/// Lets the MPI move on all that it has to do; nothing between `end` and `begin`.
void look();

}  // namespace tutti::mpi::awaited
