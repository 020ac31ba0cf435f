// SPDX-License-Identifier: BSD-3-Clause
// Memory that its owner exposes and others read: an order over all ranks must keep reads and writes apart.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/causality.hpp"
#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/races.hpp"

namespace tutti::plan {

/// Throws Refusal when an owner writes what it exposes while another rank may read it, or may finish, so that the
/// memory goes back to the user, before a reader is done.
class Exposures {
 public:
  void check(const Operation& operation, const Order& order, const Races& races, Causality& causality);

 private:
  struct Read {
    Node node;
    Node publish;
    Count begin, end;  // in the owner's buffer
    bool seen_by_owner;
  };
  struct Write {
    Node node;
    Node publish;
    Count begin, end;
  };
  /// A read and a write of the same elements: one must come before the other.
  struct Pair {
    std::size_t read, write;
    bool ordered;
  };
  static constexpr std::size_t batch = 4096;

  void collect(const Races& races);
  void collect_writes(Node publish, const Races& races);
  void look(const Causality& causality, std::size_t begin, std::size_t end);
  Node watched(std::size_t index) const {
    return index < reads_.size() ? reads_[index].node : writes_[index - reads_.size()].node;
  }

  const Operation* operation_ = nullptr;
  std::vector<Read> reads_;
  std::vector<Write> writes_;
  std::vector<Pair> pairs_;
};

}  // namespace tutti::plan
