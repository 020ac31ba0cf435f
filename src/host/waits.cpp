// SPDX-License-Identifier: BSD-3-Clause
#include "host/waits.hpp"

#include <algorithm>

namespace tutti::host {

void Wait::add(Rank rank) {
  if (blocked < most_blockers) blockers[blocked] = rank;
  ++blocked;
}

void Wait::set_place(std::string_view text) {
  if (text.size() >= longest_place) text.remove_prefix(text.size() - longest_place + 1);
  *std::copy(text.begin(), text.end(), place) = '\0';
}

void Waits::tell(std::span<const Wait> blocked, std::uint64_t now, bool waiting) {
  const std::uint64_t before = version.load(std::memory_order_relaxed);  // relaxed: this process alone writes
  version.store(before + 1, std::memory_order_relaxed);
  // A reader that sees any of what follows sees the odd version too.
  std::atomic_thread_fence(std::memory_order_release);
  std::copy_n(blocked.begin(), std::min(blocked.size(), most), waits);
  in_flight.store(static_cast<std::uint32_t>(blocked.size()), std::memory_order_relaxed);
  told_at.store(now, std::memory_order_relaxed);
  if (waiting) waited_at.store(now, std::memory_order_relaxed);
  version.store(before + 2, std::memory_order_release);  // the reader that sees it sees all of the above
}

void Waits::clear() {
  const std::uint64_t before = version.load(std::memory_order_relaxed);  // as above
  version.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  in_flight.store(0, std::memory_order_relaxed);
  told_at.store(0, std::memory_order_relaxed);
  waited_at.store(0, std::memory_order_relaxed);
  version.store(before + 2, std::memory_order_release);
}

}  // namespace tutti::host
