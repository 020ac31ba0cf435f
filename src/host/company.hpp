// SPDX-License-Identifier: BSD-3-Clause
// Who has a core while a rank does not: this job's other ranks, or foreign processes.
#pragma once

#include <cstdint>

#include "host/segment.hpp"

namespace tutti::host {

/// From when a rank gave its core away, and how much of it this job's ranks had used by then.
struct Absence {
  std::uint64_t from;
  std::size_t core;  ///< Its place in Header::used.
  std::uint64_t used;
};

/// The rank waits: its stretch on the core ends.
Absence give_core(const Segment& segment, Rank rank, std::uint64_t now);
/// It is back, and another stretch begins.
void take_core(const Segment& segment, Rank rank, std::uint64_t now);

/// Whether both ranks had the same core when each last took one.
bool on_one_core(const Segment& segment, Rank one, Rank other);

/// Whether other ranks had the core for half of an absence, as far as is known: one whose stretch has not ended is
/// taken to compute.
bool was_ours(const Segment& segment, const Absence& absence, std::uint64_t to);

/// A rank yielded, and foreign processes had its core for `took` nanoseconds; since they last had it, ranks have used
/// it for `before`. Where they take their fair share and no more, yielding is still the fastest way to wait. Where
/// nearly every yield hands them the core for a slice, a sleeper that is woken gets it sooner.
constexpr bool yields_to_foreign(std::uint64_t took, std::uint64_t before) { return before <= took / 20; }

}  // namespace tutti::host
