// SPDX-License-Identifier: BSD-3-Clause
// A trace file that Tutti has written, read back for summaries and pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::timeline {

/// What a rank did; texts are printable. Times are nanoseconds since the first that any rank did.
struct Slice {
  std::int64_t begin = 0, end = 0;
  std::string name, category;  ///< "allreduce", "collective"
  Rank rank = 0;               ///< Of the world.
  int lane = 0;                ///< 0: the rank's own thread; 1 and more: beside it, what overlaps.
  std::string group, site;
  std::string context;  ///< The group's identity: several may have one name. Empty: it had no room.
  std::uint64_t number = 0, bytes = 0;
  std::int64_t waiting = 0;
  std::int64_t stands_for = 1;  ///< It was noted of so many calls.
  bool blocking = true, finished = true;

  std::int64_t length() const { return end - begin; }
  /// Of all that it stands for, together.
  std::int64_t of_all(std::int64_t time) const { return time * stands_for; }
};

/// A message, from its send to its end.
struct Arrow {
  Rank from = 0, to = 0;
  std::int64_t begin = 0, end = 0;
};

struct Timeline {
  int ranks = 0;
  std::uint64_t dropped = 0, nameless = 0;  ///< Events and names that had no room.
  std::string clocks;
  std::optional<std::int64_t> clock_error = 0;  ///< At most; nothing: nobody knows.
  std::vector<Rank> unfinished;                 ///< Ranks that died before they could end their records.
  std::vector<Rank> recording;                  ///< Ranks that still recorded when it was made.
  std::vector<Rank> missing;                    ///< Ranks of which there is none.
  std::vector<Slice> slices;                    ///< By their begin.
  std::vector<Arrow> arrows;

  std::int64_t length() const;
};

/// Throws Error (system) for a file that cannot be read or is none of ours.
Timeline read(const std::string& file);

/// What people look for first: who came late, the skew of each collective, what ranks wait and move, the costliest
/// calls.
std::string summary(const Timeline& timeline);
/// One lane a rank, time from left to right: an SVG.
std::string draw(const Timeline& timeline);

}  // namespace tutti::timeline
