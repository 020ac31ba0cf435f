// SPDX-License-Identifier: BSD-3-Clause
// What a process is told about its job, in the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "launch/message.hpp"
#include "launch/secret.hpp"
#include "launch/system.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

inline constexpr char rank_variable[] = "TUTTI_RANK", size_variable[] = "TUTTI_SIZE", store_variable[] = "TUTTI_STORE",
                      secret_variable[] = "TUTTI_SECRET", secret_file_variable[] = "TUTTI_SECRET_FILE";

/// "tcp:HOST:PORT", where HOST is a name, an IPv4 address or an [IPv6] one.
struct HostAndPort {
  static constexpr std::string_view prefix = "tcp:";
  /// Throws Error (usage) for any other text.
  explicit HostAndPort(std::string_view text);
  /// As it was given.
  std::string text() const;
  std::string host;  ///< Without brackets.
  std::uint16_t port = 0;
};

struct Environment {
  Rank rank = 0;
  int size = 1;
  /// Of the launcher on this host, or of rank 0 wherever it is.
  std::variant<Address, HostAndPort> store;
  Secret secret;
};

/// What a launcher of others has set: nothing when it has not, -1 when that is no whole number from 0.
std::optional<int> number_in(const char* variable);

/// Nothing when none of the five variables is set: the program was started alone.
/// Throws Error (usage) that names the variable when one is missing or ill-formed.
std::optional<Environment> read_environment();

}  // namespace tutti::launch
