// SPDX-License-Identifier: BSD-3-Clause
// Memory that its owner exposes and others read: an order over all ranks must keep reads and writes apart.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/races.hpp"

namespace tutti::plan {

/// Throws Refusal when an owner writes what it exposes while another rank may read it, or may finish, so that the
/// memory goes back to the user, before a reader is done.
class Exposures {
 public:
  void check(const Operation& operation, const Order& order, const Races& races);

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
  void spread(const Order& order, std::size_t begin, std::size_t end);
  void look(std::size_t begin, std::size_t end);
  bool has(Node event, std::size_t bit) const { return bits_[event * words_ + bit / 64] >> (bit % 64) & 1; }
  Node watched(std::size_t index) const {
    return index < reads_.size() ? reads_[index].node : writes_[index - reads_.size()].node;
  }

  const Operation* operation_ = nullptr;
  std::vector<Read> reads_;
  std::vector<Write> writes_;
  std::vector<Pair> pairs_;
  std::vector<std::uint64_t> bits_;  // per event: which watched steps are complete when the event is
  std::vector<std::uint32_t> first_watched_, next_watched_;
  std::size_t words_ = 0;
};

}  // namespace tutti::plan
