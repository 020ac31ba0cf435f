// SPDX-License-Identifier: BSD-3-Clause
// Memory that its owner exposes and others read or write: an order over all ranks must keep apart what does not go
// together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/causality.hpp"
#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/races.hpp"

namespace tutti::plan {

/// Throws Refusal when an owner writes what it exposes while another rank may read it, touches what others may be
/// writing, when two others may write the same, when nobody
/// writes a part of what it opens, or when an owner may finish, so that the memory goes back to the user,
/// before the others are done.
class Exposures {
 public:
  void check(const Operation& operation, const Order& order, const Races& races, Causality& causality);

 private:
  struct Access {
    Node node;
    Node publish;
    Rank owner;
    Buffer buffer;
    Count begin, end;  // in the owner's buffer
    bool writes;
    bool seen_by_owner = false;  // of others' accesses
  };
  /// Two accesses to the same elements, one of which writes: one must come before the other.
  struct Pair {
    std::size_t theirs, other;
    bool ordered;
  };
  static constexpr std::size_t batch = 4096;

  void collect(const Races& races);
  void collect_theirs();
  void collect_own(Node publish, const Races& races);
  void pair_theirs_with_own();
  void pair_writes();
  void require_filled(Node publish) const;
  void look(const Causality& causality, std::size_t begin, std::size_t end);
  void refuse_pair(const Pair& pair) const;
  static std::string verb(const Access& access) { return access.writes ? "write" : "read"; }
  std::string touch(const Access& access) const;

  const Operation* operation_ = nullptr;
  std::vector<Access> accesses_;  // others', by what publishes the memory, then the owners'
  std::size_t theirs_ = 0;        // so many are others'
  std::vector<Pair> pairs_;
};

}  // namespace tutti::plan
