// SPDX-License-Identifier: BSD-3-Clause
// The plan: what one rank does for one collective, as data. A few verbs on symbolic buffers with explicit edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::plan {

/// Where a slice lies. `shared` is a cell on the board (owner, cell); `exposed` is memory that its owner has
/// published through a cell and that others read, or where it is open write, in one copy.
enum class Buffer : std::uint8_t { none, input, output, scratch, shared, exposed };
inline constexpr std::size_t buffer_kinds = 6;

/// A range of elements in a symbolic buffer. Offsets and counts are in elements.
struct Slice {
  Buffer buffer = Buffer::none;
  Rank owner = -1;         ///< shared and exposed: whose.
  std::int32_t cell = -1;  ///< shared and exposed: which of the owner's cells of this operation, 0-based.
  Count offset = 0;
  Count count = 0;

  /// `n` elements of this slice from its element `first` on.
  Slice part(Count first, Count n) const { return {buffer, owner, cell, offset + first, n}; }
  bool operator==(const Slice&) const = default;
};

/// What a step does:
///   send         source -> message to peer          (done when source may be reused)
///   recv         message from peer -> target
///   recv_reduce  message from peer combined into target
///   reduce       source combined into target
///   copy         source -> target
///   publish      makes my cell `cell` visible. source = what it holds: a range of my own shared cell,
///                or a range of input, output or scratch that others may then read as `exposed`, or, where it is
///                open, write: all of it, by copy alone
///   await        until peer's cell `cell` (peer = everyone: that of every other rank of my host) is visible;
///                source.count = the elements it must hold, the same for all
///   release      I have finished reading all cells up to and including `cell`, of every rank of my host
enum class Verb : std::uint8_t { send, recv, recv_reduce, reduce, copy, publish, await, release };

constexpr bool receives(Verb verb) { return verb == Verb::recv || verb == Verb::recv_reduce; }
constexpr bool reduces(Verb verb) { return verb == Verb::reduce || verb == Verb::recv_reduce; }
/// Moves data in memory, and waits for nobody.
constexpr bool moves(Verb verb) { return verb == Verb::copy || verb == Verb::reduce; }

/// Where the incoming operand of a reduction stands: left: target = source op target (source is of lower ranks);
/// right: target = target op source. It matters to non-commutative operations alone.
enum class Side : std::uint8_t { left, right };

inline constexpr Rank everyone = -2;

/// Index of a step in its plan.
using Index = std::uint32_t;

struct Step {
  Verb verb = Verb::copy;
  Side side = Side::left;
  bool open = false;          ///< publish: what it exposes is there to be written by others, not read.
  bool any = false;           ///< Starts after the first of its predecessors (which cancels the others), not after all.
  Rank peer = -1;             ///< send, recv, recv_reduce: the other rank; await: whose cell, or `everyone`.
  std::uint32_t message = 0;  ///< send, recv, recv_reduce: message number, unique per ordered pair in this plan.
  std::int32_t cell = -1;     ///< publish, await, release.
  Slice source{};
  Slice target{};
  Index first = 0, last = 0;  ///< predecessors: Plan::edges[first..last).
};

/// Which ring of the board a plan's cells come from.
enum class Ring : std::uint8_t { small, medium, large };
inline constexpr std::size_t rings = 3;

/// A number of each of them.
template <class Number>
struct OfRings {
  Number small{}, medium{}, large{};
  constexpr Number operator[](Ring ring) const {
    return ring == Ring::small ? small : ring == Ring::medium ? medium : large;
  }
  bool operator==(const OfRings&) const = default;
};
/// Elements that fit a cell.
using Cells = OfRings<Count>;
/// Cells of each rank's ring: cell k can be written when all ranks of the host have released cell k - ring_length.
inline constexpr OfRings<std::int32_t> ring_length{512, 64, 8};

/// One rank's plan. Steps stand in an order in which every step comes after its predecessors.
struct Plan {
  Rank rank = 0;
  Rank size = 1;
  Count scratch = 0;  ///< Elements of scratch memory.
  Ring ring = Ring::small;
  std::int32_t cells = 0;  ///< Cells of the ring this operation takes: like the ring, the same on all ranks of a host.
  std::vector<Step> steps;
  std::vector<Index> edges;

  std::span<const Index> after(const Step& step) const {
    return std::span(edges).subspan(step.first, step.last - step.first);
  }
};

}  // namespace tutti::plan
