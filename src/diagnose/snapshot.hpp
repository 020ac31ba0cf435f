// SPDX-License-Identifier: BSD-3-Clause
// What a job's shared memory says at one moment. Read from outside, through the file alone: nothing is mapped, nothing
// is written, and nothing that stands there is believed before it is checked. A rank may have died in the middle of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "diagnose/source.hpp"
#include "host/board.hpp"
#include "host/segment.hpp"
#include "host/waits.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"

namespace tutti::diagnose {

/// What a rank called in a group, from its records.
struct Called {
  std::uint64_t sequence = 0;
  std::uint32_t signature = 0;
  std::uint64_t call = 0;  ///< As host::Record has it.
  Count count = 0;
  std::int32_t algorithm = -1;
  std::uint64_t site = 0;
  base::Label label{};   ///< The name of a user's plan.
  bool recorded = true;  ///< False: known from its wait alone; then it has no signature.

  Kind kind() const { return static_cast<Kind>(static_cast<std::uint8_t>(call)); }
  std::string name() const { return base::name(kind(), label); }
};

struct Member {
  Rank world = 0;
  std::vector<Called> calls;  ///< The last ones, ascending; those that were being written are missing.

  /// Whether it has called an operation of that number, or a later one.
  bool reached(std::uint64_t sequence) const { return !calls.empty() && calls.back().sequence >= sequence; }
  const Called* find(std::uint64_t sequence) const;
};

struct Group {
  std::uint64_t context = 0;
  std::string name;
  std::vector<Member> members;
  bool broken = false;
  Cause cause = Cause::broken;
  Rank who = -1, whom = -1;  ///< Who broke it, whom that concerns: ranks of the job; -1 = unknown.
  std::uint64_t sequence = 0;
};

/// The function of its MPI that a rank is in.
struct InMpi {
  std::uint64_t call = 0;  ///< Counts them; odd while it is in one.
  std::uint64_t site = 0;
  std::int32_t peer = -1, tag = -1;  ///< Negative: any, or none.
  std::string name;
};

struct Process {
  host::Life life = host::Life::absent;
  std::int32_t pid = 0;  ///< As it sees itself.
  /// The last collective that it called anywhere; `called` says whether there is one.
  bool called = false;
  std::uint32_t last_kind = 0;
  std::uint64_t last_context = 0, last_sequence = 0;
  Called last;  ///< The same, where its group has no board on its host.
  std::uint64_t told_at = 0, waited_at = 0;
  std::uint32_t in_flight = 0;
  std::vector<host::Wait> waits;
  InMpi mpi;
};

struct Snapshot {
  std::uint64_t job = 0;
  std::uint64_t taken_at = 0;  ///< By the monotonic clock.
  std::vector<Process> processes;
  std::vector<Group> groups;  ///< That have a board and members that still hold it.

  const Group* group(std::uint64_t context) const;
};

/// The job whose segment the descriptor is. Throws Error (system) when it is none, or one of another version.
std::uint64_t job_of(int descriptor);
/// Throws Error (system) as well. Ranks are places of this host's memory, but for those that somebody waits for: these
/// are ranks of the job, which has so many; 0: all are here.
Snapshot read_snapshot(const Source& source, std::int32_t ranks = 0);
Snapshot read_snapshot(int descriptor);
/// What stands there of the job's other hosts, see launch/directory.hpp; empty where there are none.
std::string read_directory(const Source& source);

}  // namespace tutti::diagnose
