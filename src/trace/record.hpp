// SPDX-License-Identifier: BSD-3-Clause
// What one rank has noted, read back. The rank may have died in the middle: nothing is believed before it is checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "trace/format.hpp"
#include "tutti/types.hpp"

namespace tutti::trace {

struct Record {
  struct Note {
    Word kind{};
    std::uint64_t key = 0;
    std::string text;
  };
  std::uint64_t job = 0;
  std::int64_t started = 0;  ///< Nanoseconds since 1970.
  Rank rank = 0, host = 0;
  int size = 0, pid = 0;
  std::string host_name;
  Reading first, last;
  std::uint64_t dropped = 0, nameless = 0;  ///< Events and words that had no room.
  bool finished = false;
  bool recording = false;  ///< Its rank still adds to it, or did when this was asked.
  std::vector<Note> notes;
  std::vector<Event> events;  ///< Those that were begun, in no order.

  /// The first of that kind; null when there is none.
  const Note* find(Word kind) const;
};

/// The file of a rank, or what `compact` has made of it. Throws Error (system) when it is none.
Record parse(std::span<const std::byte> bytes);
Record read_record(const std::string& path);
/// Whether the rank of that file still records. Locks of other hosts show where the file system hands them on.
bool is_recording(const std::string& path);
/// The same without the room that was not used.
std::vector<std::byte> compact(const std::string& path);

}  // namespace tutti::trace
