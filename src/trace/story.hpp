// SPDX-License-Identifier: BSD-3-Clause
// What all ranks did, on one timeline, with names.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/record.hpp"
#include "trace/times.hpp"

namespace tutti::trace {

/// Something that a rank did, in nanoseconds since the first that any did.
struct Slice {
  std::int64_t begin = 0, end = 0;
  const Event* event = nullptr;
  std::uint64_t context = 0;     ///< Of its group.
  std::string_view group;        ///< Its name.
  Rank rank = 0;                 ///< In it,
  int size = 0;                  ///< of so many; 0: its word had no room, and it may be any group.
  std::string site;              ///< call, message, wait.
  std::int64_t late = 0;         ///< call: since the first rank called it.
  std::uint64_t stands_for = 1;  ///< call, step, wait: of so many calls this one was noted.
  std::int64_t waiting = 0;      ///< call: of its time, without what was moved meanwhile.
};

/// One rank's part.
struct Part {
  const Record* record = nullptr;
  std::vector<Slice> slices;  ///< By their begin; of equal ones the longest first.
  std::int64_t clock_error = 0;
};

/// A collective as the whole group met it.
struct Meeting {
  struct Presence {
    Rank world = 0, rank = 0;
    std::int64_t begin = 0, end = 0;
  };
  std::string_view group;
  std::uint64_t sequence = 0;
  int size = 0;
  Rank root = -1;
  std::uint8_t kind = 0;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();  ///< The first rank's.
  std::vector<Presence> ranks;
};

struct Story {
  explicit Story(const std::vector<Record>& records);

  Times times;
  std::vector<Part> parts;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Meeting> meetings;  ///< By context and sequence.

 private:
  void meet();
};

}  // namespace tutti::trace
