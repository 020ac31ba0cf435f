// SPDX-License-Identifier: BSD-3-Clause
#include "engine/area_writer.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace tutti::engine {
namespace {

/// One copy in so many is timed; sooner again after one that speaks against what is done. Past the caches that one
/// costs as much as 64 KiB would otherwise.
constexpr int timed = 32, soon = 4;
constexpr std::size_t line = 64;
/// Of a line that nobody else has a store takes 2 to 5 ns, of one from a distant cache 20 to 30.
constexpr std::uint64_t slow_line = 10;
/// Of many readers some may be near and some far, and an interrupt, a fresh page or a core that is taken away slow a
/// copy down. Past the caches is better where one copy in eight is slow for good: so a slow one counts twice, a fast
/// one once, and it takes two slow ones to begin, and as many fast ones as outweigh all that counts to end.
constexpr int slow_counts = 2, begins = 4, most = 6;

/// Has the source at hand, so that what is timed is the writing.
void fetch(const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += line)
    static_cast<void>(*static_cast<const volatile std::byte*>(from + at));
}

}  // namespace

std::string how_filled(Caches caches) {
  switch (caches) {
    case Caches::measured:
      return "into areas for others past the caches while a copy in " + std::to_string(timed) +
             ", which is timed, says that readers share none";
    case Caches::shared:
      return "into areas for others through the caches: TUTTI_CACHES=shared";
    case Caches::apart:
      return "into areas for others past the caches: TUTTI_CACHES=apart";
  }
  return {};
}

void AreaWriter::note(std::size_t bytes, std::uint64_t nanoseconds) {
  const bool slow = nanoseconds > bytes / line * slow_line;
  score_ = slow ? std::min(score_ + slow_counts, most) : std::max(score_ - 1, 0);
  if (score_ == 0) past_ = false;
  if (score_ >= begins) past_ = true;
  until_ = slow == past_ ? timed : soon;
}

void AreaWriter::copy_large(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (measures_ && --until_ == 0) {
    copy_timed(to, from, base::large_copy);
    to += base::large_copy;
    from += base::large_copy;
    bytes -= base::large_copy;
  }
  (past_ ? base::copy_streaming : base::copy)(to, from, bytes);
}

void AreaWriter::copy_timed(std::byte* to, const std::byte* from, std::size_t bytes) {
  fetch(from, bytes);
  const std::uint64_t begin = base::now();
  base::copy(to, from, bytes);
  note(bytes, base::now() - begin);
}

}  // namespace tutti::engine
