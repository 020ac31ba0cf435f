// SPDX-License-Identifier: BSD-3-Clause
// What a rank that waits long tells about it, for `tutti why`: which operations, and which ranks each is blocked on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/types.hpp"

namespace tutti::host {

enum class Waited : std::uint32_t { collective, send, recv, agree, shrink };
constexpr bool is_message(Waited what) { return what == Waited::send || what == Waited::recv; }

/// One operation that cannot go on.
struct Wait {
  static constexpr int most_blockers = 16;
  static constexpr std::size_t longest_place = 128;

  std::uint64_t context = 0;   ///< Of its group.
  std::uint64_t sequence = 0;  ///< Its number in the group, or among the group's agreements; 0 for a message.
  std::uint64_t call = 0;      ///< As Record has it.
  std::int64_t count = 0;      ///< Elements; bytes of a message.
  std::uint64_t site = 0;      ///< Return address of the call, or 0.
  std::uint64_t since = 0;     ///< When this was first told, in nanoseconds of the monotonic clock.
  Waited what = Waited::collective;
  std::uint32_t tag = 0;                   ///< The user's tag of a message.
  std::uint32_t awaited = 0;               ///< 1: a thread waits for this very one; otherwise it is merely in flight.
  std::uint32_t blocked = 0;               ///< How many ranks it is blocked on, of which the first stand here.
  std::int32_t blockers[most_blockers]{};  ///< Ranks of the job.
  char place[longest_place]{};             ///< File and line of the call, where the language knows it.

  /// Adds a rank it is blocked on.
  void add(Rank rank);
  /// Keeps the end of a text that is too long: a path's end says more than its start.
  void set_place(std::string_view text);
};

/// The waits of one process: written by its own threads, one at a time, when a wait has become slow and every 20 ms
/// from then on. Nobody in the job reads them; whoever reads from outside copies and looks at `version` before and
/// after.
struct alignas(128) Waits {
  static constexpr std::size_t most = 4;

  std::atomic<std::uint64_t> version;    ///< Odd while it is being written.
  std::atomic<std::uint64_t> told_at;    ///< When this was last written; 0 = nothing waits.
  std::atomic<std::uint64_t> waited_at;  ///< The same, but only by a thread that waits: not by the progress thread.
  std::atomic<std::uint32_t> in_flight;  ///< Operations that cannot go on, of which the oldest stand below.
  Wait waits[most];

  void tell(std::span<const Wait> blocked, std::uint64_t now, bool waiting);
  void clear();
};

}  // namespace tutti::host
