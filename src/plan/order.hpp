// SPDX-License-Identifier: BSD-3-Clause
// What happens before what, over all ranks and over operations that follow each other on the same rings.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/operation.hpp"

namespace tutti::plan {

/// The events of one or several operations: steps (a message is one event, its send), and for each operation and rank
/// its completion and the moment when it has released all its cells. Numbered through; an order exists unless they
/// deadlock.
class Order {
 public:
  /// Sorts the events so that each comes after all it waits for; throws Refusal that shows a cycle when they deadlock.
  /// `one_after_another`: a rank starts an operation when its one before is complete; else all at once.
  void sort(std::span<Operation* const> operations, const Board& board, bool one_after_another);

  /// All events of the only operation in that order; those from nodes() on are no steps.
  std::span<const Node> events() const { return events_; }
  /// The number of all events of the only operation, steps or not.
  Node count() const { return first_.back(); }

  /// Calls function(node) for everything of the only operation that surely happens before a step, a completion or a
  /// release. Here a send does not wait for its receive: a transport may keep the message.
  template <class Function>
  void for_each_cause(Node node, Function function) const {
    Walk walk = begin(node);
    walk.causes = true;
    for (Node before = next(walk); before != nothing; before = next(walk)) function(before);
  }

 private:
  /// A place among all that an event waits for: the event has one member, or the two ends of a message; a member
  /// waits for several reasons, one after another.
  enum class Reason : std::uint8_t { edges, start, cells, reuse, none };
  struct Walk {
    Node event = nothing;
    std::uint32_t operation = 0;
    Node member = nothing;
    Reason reason = Reason::edges;
    bool causes = false;  // steps for themselves, not messages as one event
    std::uint32_t at = 0;
  };
  /// Where an operation's cells lie on the ring of a host.
  struct Place {
    std::int64_t before = 0;                // cells that the operations before it took of the same ring
    std::uint32_t previous = no_operation;  // the one before it on the same ring
  };
  static constexpr std::uint32_t no_operation = static_cast<std::uint32_t>(-1);

  void number(std::span<Operation* const> operations);
  void visit(Node root);
  const Place& place(std::uint32_t operation, Rank host) const {
    return places_[operation * static_cast<std::size_t>(operations_.front()->hosts()) + static_cast<std::size_t>(host)];
  }
  std::uint32_t operation_of(Node event) const;
  Walk begin(Node event) const;
  Node next(Walk& walk) const;
  Node next_of_member(Walk& walk) const;
  Node next_message(Walk& walk) const;
  Node next_edge(Walk& walk) const;
  Node next_start(Walk& walk) const;
  Node next_cell(Walk& walk) const;
  Node next_reuse(Walk& walk) const;
  Node next_of_moment(Walk& walk) const;
  Node completion(std::uint32_t operation, Rank rank) const;
  Node released(std::uint32_t operation, Rank rank) const;
  Node release(const Walk& walk, std::uint32_t operation, Rank rank, std::int32_t cell) const;
  Node event(const Walk& walk, std::uint32_t operation, Node node) const {
    return first_[operation] + (walk.causes ? node : operations_[operation]->event(node));
  }
  std::string describe(Node event) const;
  [[noreturn]] void refuse_cycle(Node event) const;

  std::span<Operation* const> operations_;
  std::vector<Node> first_;    // of each operation
  std::vector<Place> places_;  // per operation and host
  std::array<std::int32_t, rings> ring_{};
  bool one_after_another_ = false;
  std::vector<std::uint8_t> state_;
  std::vector<Walk> stack_;
  std::vector<Node> events_;
};

}  // namespace tutti::plan
