// SPDX-License-Identifier: BSD-3-Clause
// Which slots of a rank's areas a payload takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/segment.hpp"

namespace tutti::engine {

/// Gives them out side by side, around and around. A core takes a line from the cache that all cores share many times
/// as fast as from the private one of another core, and there a line comes to lie when its turn is long past: where all
/// slots are in use, and are more than fit a private cache (AMD EPYC, two ranks swap 32 KiB: 7.4 us with 0.6 MB of
/// slots, 2.8 us with 2 MB). But to touch a fresh page costs ten times what it takes to copy it. So few slots are in
/// use at first, and twice as many after payloads that have filled them all `rounds` times, or at once when a reader is
/// behind. (Of 2 KiB a call gains 0.1 us, and the pages cost 1.5 ms: whoever makes a thousand calls need not pay them.)
class Slots {
 public:
  struct Wanted {
    std::size_t slots;  ///< Side by side,
    std::size_t bytes;  ///< and how much lies in them.
  };
  struct Given {
    std::uint64_t slot = 0;    ///< The first.
    std::uint64_t before = 0;  ///< The last cell that any of them was given out for.
    host::Offset lent = 0;     ///< The payload is not in them: it lies there in the segment, see lending.cpp. 0: it is.
  };

  Slots() = default;
  explicit Slots(std::size_t all) : cells_(all) {}

  /// The areas of one operation follow, which shall not wait for itself: they, and what the last of them leaves free at
  /// the end, are so many slots.
  void expect(std::size_t slots) { used_ = std::min(std::max(used_, slots), cells_.size()); }
  /// For the payload of the cell `sequence`. `consumed(cell)`: whether everybody is done with that cell.
  template <class Consumed>
  Given give(const Wanted& wanted, std::uint64_t sequence, Consumed consumed) {
    const std::size_t slots = wanted.slots;
    if (next_ + slots > used_ && used_ < cells_.size() && (filled_ >= enough() || !consumed(cells_[slots - 1]))) {
      used_ = std::min(2 * used_, cells_.size());
      filled_ = 0;
    }
    filled_ += wanted.bytes;
    Given given{begin(slots), 0};
    next_ = given.slot + slots;
    for (std::size_t slot = given.slot; slot < next_; ++slot)
      given.before = std::max(given.before, std::exchange(cells_[slot], sequence));
    return given;
  }
  /// How many areas of so many slots may be under way without a look at the readers.
  std::size_t room(std::size_t slots) const { return used_ / slots; }
  /// Where an area of so many slots would begin now.
  std::size_t begin(std::size_t slots) const { return next_ + slots <= used_ ? next_ : 0; }
  /// The last cell that the slot was given out for.
  std::uint64_t cell(std::size_t slot) const { return cells_[slot]; }

 private:
  static constexpr std::size_t at_first = 16;
  static constexpr std::size_t rounds = 16, full = 8192;

  /// Bytes that make more slots worth their pages.
  std::size_t enough() const { return rounds * full * used_; }

  std::vector<std::uint64_t> cells_;
  std::size_t used_ = at_first, next_ = 0;
  std::size_t filled_ = 0;  // bytes, since there are so many slots
};

}  // namespace tutti::engine
