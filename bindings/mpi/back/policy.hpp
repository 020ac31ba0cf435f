// SPDX-License-Identifier: BSD-3-Clause
// Which collectives the user wants from Tutti: TUTTI_MPI=auto, always, never, or a default and exceptions:
// always,bcast:never; exceptions alone are those to auto.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tutti/call.hpp"

namespace tutti::mpi {

/// automatic: where the program's own calls have shown that Tutti is faster.
enum class Choice : std::uint8_t { never, automatic, always };

class Policy {
 public:
  /// Everything is the MPI's.
  Policy() = default;
  /// Throws Error (usage) for a word that means nothing.
  explicit Policy(std::string_view words);

  Choice of(Kind kind) const { return choices_[static_cast<std::size_t>(kind)]; }
  bool wants_any() const;

 private:
  std::array<Choice, kinds> choices_{};
};

/// This job's; the same on all ranks.
inline Policy policy;

}  // namespace tutti::mpi
