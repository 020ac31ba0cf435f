// SPDX-License-Identifier: BSD-3-Clause
// Lanes: the data of a host in shares, one for each of its ranks, who talk to the ranks with the same share elsewhere.
#pragma once

#include <vector>

#include "collectives/compose.hpp"

namespace tutti::collectives {

/// All hosts have equally many ranks. The shares are equal, but for a rest that the last one has in addition.
class Lanes {
 public:
  Lanes(const Composition& b, const Shape& shape, Slice data);

  /// Those with my share, by host.
  std::span<const Rank> ranks() const { return ranks_; }
  Slice share() const;
  /// Of all shares.
  std::span<const Count> counts() const { return counts_; }
  std::span<const Count> offsets() const { return offsets_; }
  /// Everybody's shares, each of which lies at its place, for all ranks of the host.
  void collect(Composition& b) const;

 private:
  Slice data_;
  std::vector<Rank> ranks_;
  std::size_t mine_;
  std::vector<Count> counts_, offsets_;
};

}  // namespace tutti::collectives
