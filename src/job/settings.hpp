// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about a world, and what of it all ranks agree on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/offer.hpp"
#include "job/runtime.hpp"
#include "tune/source.hpp"
#include "tutti/types.hpp"

namespace tutti::job {

/// Nanoseconds, of TUTTI_TIMEOUT=2.5; 0 when it is not set. Throws Error (usage).
std::uint64_t timeout_from_environment();

/// The same of TUTTI_TRACE_PATIENCE: how long a rank that has recorded waits for the others when it ends.
std::uint64_t trace_patience_from_environment();

/// Tells of a table of this machine that is not used because something is wrong with it, once.
void tell_of_trouble(const tune::Source& source);

/// What this rank's environment says about selection. Throws Error (usage) on the rank whose environment is wrong.
Offer own_offer(const tune::Source& source);

/// A process as far as it is known by what all ranks agreed on and what this rank's environment says; `own`: this
/// rank's table, for `tutti info`. The time-out is not among them: an MPI's calls know none. Throws Error (usage).
Process process_from_environment(const Offer& agreed, const tune::Source& own);

/// What somebody has set for this rank, or measured on its machine, and rank 0's selection takes the place of.
class Unused {
 public:
  Unused() = default;
  Unused(const Offer& mine, const Offer& theirs);
  /// The same number for the same, to compare with other ranks.
  std::uint64_t mark() const;
  /// Tells of it, but on ranks of a host whose first one has the same mark, and tells.
  void tell(Rank rank, bool first, std::uint64_t mark_of_first) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace tutti::job
