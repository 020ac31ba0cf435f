// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a job over several hosts know before they meet: who they are, and where.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/caller.hpp"
#include "launch/environment.hpp"

namespace tutti::launch {

struct Meeting {
  Rank rank = 0;
  int size = 1;
  Secret secret;
  std::vector<base::Descriptor> listeners;  ///< Rank 0: where it serves the store.
  FindStore find;                           ///< The others: where they look for it.
  std::string where;                        ///< The same, for people.
  std::string launcher;                     ///< How they know all that, for people.
};

/// By TUTTI_RANK and the others. Throws Error (system) when rank 0 cannot serve.
Meeting by_hand(const Environment& environment);

}  // namespace tutti::launch
