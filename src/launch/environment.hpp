// SPDX-License-Identifier: BSD-3-Clause
// What a process is told about its job, in the environment.
#pragma once

#include <optional>
#include <string>

#include "launch/secret.hpp"
#include "launch/system.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

inline constexpr char rank_variable[] = "TUTTI_RANK", size_variable[] = "TUTTI_SIZE", store_variable[] = "TUTTI_STORE",
                      secret_variable[] = "TUTTI_SECRET", secret_file_variable[] = "TUTTI_SECRET_FILE";

/// The largest job on one host: sockets, pipes and the segment's tables stay reasonable.
inline constexpr int most_ranks = 4096;

struct Environment {
  Rank rank = 0;
  int size = 1;
  Address store;
  Secret secret;
};

/// Nothing when none of the five variables is set: the program was started alone.
/// Throws Error (usage) that names the variable when one is missing or ill-formed.
std::optional<Environment> read_environment();

}  // namespace tutti::launch
