// SPDX-License-Identifier: BSD-3-Clause
// Why a job does not go on: who is missing, who called the wrong thing, who waits in a circle.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/situation.hpp"

namespace tutti::diagnose {

/// How findings name what only others know.
struct Words {
  std::string_view (*algorithm)(std::int32_t) = nullptr;
  /// A place in a rank's program; may be empty.
  std::function<std::string(Rank rank, std::uint64_t address)> site;
};

struct Finding {
  /// mismatch, broken, dead, left, ended, stopped, silent, unreachable, absent, missing, unfinished, message, deadlock,
  /// mpi, waiting, moving, idle.
  std::string kind;
  std::string text;
  std::vector<Rank> ranks;    ///< Of the world: those that are to blame, or form the circle.
  std::vector<Rank> waiting;  ///< Of the world: those that wait for them, directly or behind others.
  std::string group;          ///< Empty when it concerns none.
  std::int64_t sequence = -1;
  std::vector<std::string> differences{};  ///< Of a mismatch: "collective", "type", "root", …
};

/// The most important first; never empty.
std::vector<Finding> find(const Situation& situation, const Words& words);

/// "allreduce #12 of group world", "recv with tag 7 in group world".
std::string describe(const host::Wait& wait, const Snapshot& snapshot);
/// "allreduce", "plan halo", "send".
std::string operation_name(const host::Wait& wait, const Snapshot& snapshot);
/// The name of a group, or its number where it has no board.
std::string group_name(const Snapshot& snapshot, std::uint64_t context);
/// "MPI_Recv (peer 1, tag 9)"
std::string describe(const InMpi& in);
/// Its host does not answer: what it has called, nobody can tell.
bool is_mute(const Situation& situation, Rank rank);
/// "allreduce #12"
std::string call_name(const Called& called);
/// The last collective of a rank, wherever it was; nothing when its record is not there any more.
const Called* last_call(const Snapshot& snapshot, Rank rank);
/// "2.3 s"
std::string age(std::uint64_t since, std::uint64_t now);

}  // namespace tutti::diagnose
