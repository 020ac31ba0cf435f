// SPDX-License-Identifier: BSD-3-Clause
// Writes plans: one call a step, `.after(...)` an edge.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tutti::plan {

class Builder;

/// A step just added, or none. Waiting for `none` is no edge, so optional predecessors need no branch.
class Handle {
 public:
  Handle() = default;
  /// This step starts after all of these.
  Handle after(std::initializer_list<Handle> predecessors) const;
  Handle after(const std::vector<Handle>& predecessors) const;
  Handle after(Handle predecessor) const { return after({predecessor}); }
  /// This step starts after the first of these; the others are cancelled.
  Handle after_any(const std::vector<Handle>& predecessors) const;
  bool exists() const { return builder_ != nullptr; }
  Index index() const { return index_; }

 private:
  friend class Builder;
  Handle(Builder* builder, Index index) : builder_(builder), index_(index) {}
  Builder* builder_ = nullptr;
  Index index_ = 0;
};

/// Collects the steps of one rank's plan. Messages are numbered in the order in which they are added, per
/// (sender, receiver): both ends must add those between the same two ranks in the same order.
/// Throws Error (usage) for a peer out of range or a predecessor that is not an earlier step.
class Builder {
 public:
  Builder(Rank rank, Rank size);

  Rank rank() const { return plan_.rank; }
  Rank size() const { return plan_.size; }

  static Slice input(Count offset, Count count) { return {Buffer::input, -1, -1, offset, count}; }
  static Slice output(Count offset, Count count) { return {Buffer::output, -1, -1, offset, count}; }
  static Slice shared(Rank owner, std::int32_t cell, Count offset, Count count) {
    return {Buffer::shared, owner, cell, offset, count};
  }
  static Slice exposed(Rank owner, std::int32_t cell, Count offset, Count count) {
    return {Buffer::exposed, owner, cell, offset, count};
  }
  /// `count` fresh elements of scratch.
  Slice scratch(Count count);
  /// The buffers have these lengths, and nothing will check the plan later: from now on a slice beyond them, a step
  /// that writes input and one that reads what it writes are refused.
  void bound(Count input, Count output);
  /// This operation takes `cells` cells of `ring`. The same on all ranks.
  void use(Ring ring, std::int32_t cells);

  Handle send(Rank to, Slice source);
  Handle recv(Rank from, Slice target);
  Handle recv_reduce(Rank from, Slice target, Side side = Side::left);
  Handle reduce(Slice source, Slice target, Side side = Side::left);
  Handle copy(Slice source, Slice target);
  Handle publish(std::int32_t cell, Slice content);
  /// Publishes memory that others write, as exposed: all of it.
  Handle open(std::int32_t cell, Slice content);
  Handle await(Rank owner, std::int32_t cell, Count expected);
  Handle release(std::int32_t cell);

  /// Everything added from now on starts after everything added before (LibNBC's round).
  void round();

  /// The finished plan; the builder is empty afterwards. Edges that others imply are left out.
  Plan build();

 private:
  friend class Handle;
  Handle add(Step step);
  std::uint32_t count_message(std::vector<std::uint32_t>& counts, Rank peer) const;
  void require_source(const Slice& slice) const;
  void require_target(const Slice& slice) const;
  void require_inside(const Slice& slice) const;
  void require_pair(const char* verb, const Slice& source, const Slice& target) const;
  void link(Index step, const std::vector<Handle>& predecessors, bool any);

  Plan plan_;
  struct Lengths {
    Count input, output;
  };
  std::optional<Lengths> lengths_;              // none: not known here
  std::vector<std::vector<Index>> after_;       // per step
  std::vector<std::uint32_t> sent_, received_;  // next message number per peer, once there is a message
  std::vector<Index> rounds_;                   // first step of each round after the first
};

}  // namespace tutti::plan
