// SPDX-License-Identifier: BSD-3-Clause
// Clocks of several ranks compared by messages, and one timeline for all (Hoefler, Principles for Coordinated
// Optimization of Computation and Communication in Large-Scale Parallel Systems, dissertation, 2008, chapter IV).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "measure/clock.hpp"
#include "tutti/types.hpp"

namespace tutti::measure {

/// The ranks whose clocks are compared, and their messages: in order between any two, small, of known length.
class Messages {
 public:
  Messages() = default;
  virtual ~Messages() = default;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  virtual Rank rank() const = 0;
  virtual Rank size() const = 0;
  virtual void send(Rank to, std::span<const std::byte> bytes) = 0;
  virtual void recv(Rank from, std::span<std::byte> bytes) = 0;
};

/// One moment on two clocks: when the parent's showed `parent`, the child's showed `child`, give or take `error`.
struct Moment {
  std::int64_t child = 0, parent = 0, error = 0;
};

/// A rank's clock is compared with its parent's. The root is rank 0.
enum class Scheme : std::uint8_t {
  linear,  ///< All with rank 0's, one after the other: P - 1 comparisons, one after the other.
  tree,    ///< ceil(log2 P) of them, one after the other.
};
Rank parent_of(Rank rank, Rank size, Scheme scheme);

/// The rule that ends a comparison: when so many round trips in a row were no quicker than the quickest, it is taken
/// for the quickest there is (dissertation: 100 make an error of less than 10 % on every network). On a host that is
/// never quiet that may not come to pass: so many are enough in any case.
inline constexpr int unbeaten = 100, most_round_trips = 2000;

/// This rank's clock against `parent`'s, which calls `answer` meanwhile. The quickest message of each direction counts,
/// so that no round trip has to be quick both ways; had one of them taken no time at all, the result would be wrong by
/// half of what both took, and it is by no more.
Moment ask(Messages& messages, const Clock& clock, Rank parent);
void answer(Messages& messages, const Clock& clock, Rank child);

/// Collective: every rank's clock against its parent's. Rank 0 gets them all, by ranks; others nothing.
std::vector<Moment> synchronise(Messages& messages, const Clock& clock, Scheme scheme);

/// The way from the time of one rank to rank 0's.
class Timeline {
 public:
  /// From one or two synchronisations: the clocks drift apart by the straight line through two of them. With one
  /// (`end` empty) nothing is known of the drift, and the error grows by `most_drift` from that moment on.
  Timeline(Rank rank, Scheme scheme, std::span<const Moment> begin, std::span<const Moment> end);

  /// The dissertation found 300 ppm at most.
  static constexpr double most_drift = 300e-6;

  std::int64_t to_root(std::int64_t time) const;
  /// How wrong that is at most, as long as the clocks drift apart evenly.
  std::int64_t error(std::int64_t time) const;

 private:
  /// From a rank's time to its parent's.
  struct Line {
    Moment begin, end;
    std::int64_t to_parent(std::int64_t time) const;
    std::int64_t error(std::int64_t time) const;
  };
  std::vector<Line> lines_;  // from the rank up
};

}  // namespace tutti::measure
