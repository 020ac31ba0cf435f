// SPDX-License-Identifier: BSD-3-Clause
// Symbolic values: which contributions an element holds, in which order they were combined.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/contract.hpp"

namespace tutti::plan {

/// A symbolic value, the same for a whole range of elements but for an offset: element x holds the contributions of
/// `id`, the first of which is element x + shift of its rank. Equal ids are equal values; the reverse need not hold.
struct Symbol {
  std::uint32_t id = 0;
  Count shift = 0;
  bool operator==(const Symbol&) const = default;
};

/// Keeps values as pairs of values, so that combining costs the same however many contributions there are.
class Values {
 public:
  /// Forgets all; ids 0 to leaves - 1 are single contributions.
  void reset(std::uint32_t leaves);
  Symbol combine(Symbol left, Symbol right);
  /// The symbol of `value` for elements from `offset` on.
  Symbol make(const Value& value, Count offset);
  /// True when the value has exactly these contributions for elements from `offset` on: in this order, or, when
  /// commutative, as a multiset.
  bool equals(Symbol symbol, const Value& value, Count offset, bool commutative);
  /// "rank 0's 3 · rank 1's 3" for element x; of many contributions the first ones.
  std::string describe(Symbol symbol, Count x) const;

 private:
  struct Pair {
    std::uint32_t left, right;
    Count shift;           // of right against left
    std::uint32_t length;  // or as much as a number holds: no contract expects as many
    bool operator==(const Pair&) const = default;
  };
  /// A contribution whose offset is counted from the value's first one.
  using Flat = Contribution;

  std::uint32_t length(std::uint32_t id) const { return id < leaves_ ? 1 : pairs_[id - leaves_].length; }
  /// Adds the contributions of an id to `out`, which gets no longer than `most`.
  void flatten(std::uint32_t id, std::vector<Flat>& out, std::size_t most) const;
  std::span<const Flat> flat(std::uint32_t id, bool commutative);
  void grow();
  std::size_t slot(const Pair& pair) const;

  std::uint32_t leaves_ = 0;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> table_;  // ids + 1 by hash; 0 = empty
  std::vector<std::size_t> flat_first_;
  std::vector<Flat> flat_;
  std::vector<Flat> expected_;
};

}  // namespace tutti::plan
