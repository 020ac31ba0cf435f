// SPDX-License-Identifier: BSD-3-Clause
// What surely happened before a step, over all ranks, whatever the transports do.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/operation.hpp"
#include "plan/order.hpp"

namespace tutti::plan {

/// Marks some steps, then tells which marks come before any other step.
class Causality {
 public:
  /// `marks` marks, numbered from 0, all of them at no step yet.
  void begin(const Order& order, std::size_t marks);
  /// The mark is set once the step is complete.
  void mark(Node node, std::size_t mark) { bits_[node * words_ + mark / 64] |= std::uint64_t{1} << (mark % 64); }
  void spread(const Operation& operation, const Order& order);
  /// The mark is set when this step is complete; operation.nodes() + rank is the completion of a rank.
  bool has(Node node, std::size_t mark) const { return bits_[node * words_ + mark / 64] >> (mark % 64) & 1; }

 private:
  void gather(Node node, const Order& order);
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;  // per node
};

/// Throws Refusal when a rank can be done before every rank has started.
void require_synchronization(const Operation& operation, const Order& order, Causality& causality);

}  // namespace tutti::plan
