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

/// Whether other ranks had the core for half of an absence, as far as is known: one whose stretch has not ended is
/// taken to compute.
bool was_ours(const Segment& segment, const Absence& absence, std::uint64_t to);

/// Foreign load is what takes this part of a core, one in so many.
inline constexpr std::uint64_t foreign_share = 25;

/// Foreign processes took the core for `took` nanoseconds, and once before, until `since_last` ago (0 = never). One
/// absence may be anybody's short visit. Two are foreign load, unless the core was ours for long in between.
constexpr bool is_foreign_load(std::uint64_t took, std::uint64_t since_last) {
  return since_last != 0 && since_last <= took * foreign_share;
}

}  // namespace tutti::host
