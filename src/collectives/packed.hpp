// SPDX-License-Identifier: BSD-3-Clause
// Blocks of all ranks, packed host by host, so that a message holds those of a host.
#pragma once

#include <vector>

#include "collectives/compose.hpp"

namespace tutti::collectives {

/// One block a rank, at home in some buffer, each in a place of its own when packed.
class Packed {
 public:
  /// `homes`: by rank. `order`: all ranks, as their blocks shall lie.
  Packed(std::vector<Slice> homes, std::span<const Rank> order);

  /// The blocks lie at home as they do when packed, without gaps: packing is not needed.
  bool at_home() const;
  Count total() const { return offsets_.back(); }
  /// The room that all blocks take at home, when they lie there as packed; else fresh scratch.
  Slice room(Writer& b) const;

  /// Where the block of a rank, and those of the ranks that stand at [first, last) of the order, lie in `room`.
  Slice block(Slice room, Rank rank) const;
  Slice blocks(Slice room, Rank first, Rank last) const;
  /// Copies blocks to `room`, and back home; all but the one of rank `but`, and as many as lie side by side at a time.
  void pack(Composition& b, Slice room, Rank but = -1) const;
  void unpack(Composition& b, Slice room, Rank but = -1) const;

 private:
  std::vector<Slice> homes_;
  std::vector<Rank> order_;
  std::vector<Count> offsets_;  // by place; the last is the end
  std::vector<Rank> place_;     // by rank
};

/// A slice that shall be copied.
struct Move {
  Slice source, target;
};
/// Copies them, neighbours that lie side by side at both ends at once.
void copy_all(Composition& b, const std::vector<Move>& moves);

/// The parcels of the hosts: the counts and offsets of a collective among leaders. `packed`: host by host.
struct HostBlocks {
  HostBlocks(const Hosts& hosts, const Packed& packed);
  std::vector<Count> counts, offsets;
  Slice of(Slice room, Rank host) const {
    return room.part(offsets[static_cast<std::size_t>(host)], counts[static_cast<std::size_t>(host)]);
  }
  /// Everybody on a host has its parcel in `room`, or with `whole` the leader alone; brings everybody those of all
  /// hosts.
  void exchange(Composition& b, Slice room, bool whole) const;
};

}  // namespace tutti::collectives
