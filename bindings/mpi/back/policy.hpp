// SPDX-License-Identifier: BSD-3-Clause
// Which collectives the user wants from Tutti: TUTTI_MPI=always, never, or a default and exceptions:
// always,bcast:never.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tutti/call.hpp"

namespace tutti::mpi {

class Policy {
 public:
  /// Everything is the MPI's.
  Policy() = default;
  /// "auto" is "always" as long as nothing is measured. Throws Error (usage) for a word that means nothing.
  explicit Policy(std::string_view words);

  bool wants(Kind kind) const { return wanted_[static_cast<std::size_t>(kind)]; }
  bool wants_any() const;

 private:
  std::array<bool, kinds> wanted_{};
};

/// This job's; the same on all ranks.
inline Policy policy;

}  // namespace tutti::mpi
