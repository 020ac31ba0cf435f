// SPDX-License-Identifier: BSD-3-Clause
// Makes a power of two, or a product of other factors, of any group: the first ranks go in pairs, of which the odd one
// stands in for both.
#pragma once

#include <algorithm>

#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {

/// The team: the largest power of two of ranks; of another radix k, the most that are k^a f ranks, f < k, with the
/// largest k^a: always more than half of all. With `extra` ranks too many, ranks 0 .. 2*extra-1 are pairs of
/// neighbours; the even one gives its data to the odd one and gets the result from it. Positions in the team follow the
/// order of the ranks, so that reductions that do not commute stay in order.
///
///     P = 6, extra 2:            (0 1) (2 3) 4 5       team: 1 3 4 5, at positions 0 1 2 3
///     P = 7, radix 3, extra 1:   (0 1) 2 3 4 5 6       team: 1 2 3 4 5 6, as 3 * 2
class Team {
 public:
  explicit Team(const Shape& shape, Rank radix = 2);

  Rank size() const { return size_; }
  Rank position() const { return position_; }
  Rank rank(Rank position) const { return position < extra_ ? 2 * position + 1 : position + extra_; }
  /// The first of the ranks that a position stands for; of the position behind the last: the size of the group.
  Rank begin(Rank position) const { return position + std::min(position, extra_); }
  /// The rank that I stand in for, or that stands in for me; -1: none.
  Rank partner() const { return partner_; }

  /// True for a rank that gives its data to its partner; then sit_out is all that it does.
  bool sits_out() const { return position_ < 0; }
  void sit_out(Writer& b, const Shape& shape) const;
  /// My operand is my input alone: the first round may send it from there, and copy what it combines something with.
  bool starts_from_input() const { return partner_ < 0 && size_ > 1; }
  /// My operand, with the partner's if there is one, in the output.
  Handle take_in(Writer& b, const Shape& shape) const;
  /// The partner gets the result.
  void hand_out(Writer& b, const Shape& shape, const std::vector<Handle>& ready) const;

 private:
  Rank size_;
  Rank extra_;
  Rank position_;
  Rank partner_ = -1;
};

}  // namespace tutti::collectives::allreduce
