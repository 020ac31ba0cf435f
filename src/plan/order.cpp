// SPDX-License-Identifier: BSD-3-Clause
#include "plan/order.hpp"

#include <algorithm>
#include <array>

namespace tutti::plan {
namespace {

enum State : std::uint8_t { unseen, open, done };

/// The own cell that a step writes, and therefore must not write before all ranks of the host have released the cell's
/// last content; -1 when it writes none.
std::int32_t written_cell(const Step& step) {
  if (step.verb == Verb::publish) return step.cell;
  return step.target.buffer == Buffer::shared ? step.target.cell : -1;
}

}  // namespace

void Order::sort(std::span<Operation* const> operations, const Board& board, bool one_after_another) {
  operations_ = operations;
  one_after_another_ = one_after_another;
  for (const Ring ring : {Ring::small, Ring::medium, Ring::large})
    ring_[static_cast<std::size_t>(ring)] = board.length[ring];
  number(operations);
  events_.clear();
  state_.assign(first_.back(), unseen);
  for (Node event = 0; event < first_.back(); ++event) {
    const std::uint32_t operation = operation_of(event);
    const Node node = event - first_[operation];
    // The other end of a message is visited with its send.
    if (node < operations_[operation]->nodes() && operations_[operation]->event(node) != node) continue;
    if (state_[event] == unseen) visit(event);
  }
}

void Order::number(std::span<Operation* const> operations) {
  first_.assign(1, 0);
  places_.clear();
  const Rank hosts = operations.empty() ? 0 : operations.front()->hosts();
  std::vector<std::array<Place, rings>> next(static_cast<std::size_t>(hosts));
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = *operations[i];
    first_.push_back(first_.back() + operation.nodes() + 2 * static_cast<Node>(operation.size()));
    for (Rank host = 0; host < hosts; ++host) {
      Place& place = next[static_cast<std::size_t>(host)][static_cast<std::size_t>(operation.ring_of(host))];
      places_.push_back(place);
      if (operation.cells_of(host) == 0) continue;
      place.before += operation.cells_of(host);
      place.previous = i;
    }
  }
}

/// Depth first through all that the event waits for; an event that is met while it is open waits for itself.
void Order::visit(Node root) {
  stack_.clear();
  stack_.push_back(begin(root));
  state_[root] = open;
  while (!stack_.empty()) {
    const Node before = next(stack_.back());
    if (before == nothing) {
      state_[stack_.back().event] = done;
      events_.push_back(stack_.back().event);
      stack_.pop_back();
    } else if (state_[before] == open) {
      refuse_cycle(before);
    } else if (state_[before] == unseen) {
      state_[before] = open;
      stack_.push_back(begin(before));
    }
  }
}

std::uint32_t Order::operation_of(Node event) const {
  if (operations_.size() == 1) return 0;
  return static_cast<std::uint32_t>(std::ranges::upper_bound(first_, event) - first_.begin() - 1);
}

Node Order::completion(std::uint32_t operation, Rank rank) const {
  return first_[operation] + operations_[operation]->nodes() + static_cast<Node>(rank);
}

Node Order::released(std::uint32_t operation, Rank rank) const {
  return completion(operation, rank) + static_cast<Node>(operations_[operation]->size());
}

Node Order::release(const Walk& walk, std::uint32_t operation, Rank rank, std::int32_t cell) const {
  const Node step = operations_[operation]->release_of(rank, cell);
  return step == nothing ? completion(operation, rank) : event(walk, operation, step);
}

Order::Walk Order::begin(Node event) const {
  Walk walk{.event = event, .operation = operation_of(event)};
  walk.member = event - first_[walk.operation];
  return walk;
}

Node Order::next(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  if (walk.member >= operation.nodes()) return next_of_moment(walk);
  for (;;) {
    const Node before = next_of_member(walk);
    if (before != nothing) return before;
    const Node send = walk.event - first_[walk.operation];
    if (walk.member != send || operation.partner(send) == nothing) return nothing;
    if (walk.causes) return next_message(walk);
    walk.member = operation.partner(send);
    walk.reason = Reason::edges;
    walk.at = 0;
  }
}

/// A message arrives after it was sent.
Node Order::next_message(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  return receives(operation.step(walk.member).verb) && walk.at++ == 0 ? operation.partner(walk.member) : nothing;
}

Node Order::next_of_member(Walk& walk) const {
  while (walk.reason != Reason::none) {
    Node before = nothing;
    switch (walk.reason) {
      case Reason::edges:
        before = next_edge(walk);
        break;
      case Reason::start:
        before = next_start(walk);
        break;
      case Reason::cells:
        before = next_cell(walk);
        break;
      case Reason::reuse:
        before = next_reuse(walk);
        break;
      case Reason::none:
        break;
    }
    if (before != nothing) return before;
    walk.reason = static_cast<Reason>(static_cast<int>(walk.reason) + 1);
    walk.at = 0;
  }
  return nothing;
}

Node Order::next_edge(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  const Node chosen = operation.chosen(walk.member);
  if (chosen != nothing) return walk.at++ == 0 ? event(walk, walk.operation, chosen) : nothing;
  const Plan& plan = operation.plan(operation.rank_of(walk.member));
  const Step& step = operation.step(walk.member);
  if (walk.at == step.last - step.first) return nothing;
  const Index before = plan.edges[step.first + walk.at++];
  return event(walk, walk.operation, operation.first_node(plan.rank) + before);
}

/// The first steps of an operation wait for the rank's operation before it.
Node Order::next_start(Walk& walk) const {
  if (!one_after_another_ || walk.operation == 0 || walk.at++ != 0) return nothing;
  const Operation& operation = *operations_[walk.operation];
  const Step& step = operation.step(walk.member);
  return step.first == step.last ? completion(walk.operation - 1, operation.rank_of(walk.member)) : nothing;
}

Node Order::next_cell(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  const Step& step = operation.step(walk.member);
  if (step.verb != Verb::await || operation.cancelled(walk.member)) return nothing;
  if (step.peer != everyone)
    return walk.at++ == 0 ? event(walk, walk.operation, operation.publisher(step.peer, step.cell)) : nothing;
  const Rank rank = operation.rank_of(walk.member);
  const auto others = operation.ranks_of(operation.host_of(rank));
  if (walk.at < others.size() && others[walk.at] == rank) ++walk.at;
  if (walk.at >= others.size()) return nothing;
  return event(walk, walk.operation, operation.publisher(others[walk.at++], step.cell));
}

/// A cell is written when every rank of the host has released the cell that lies a ring's length before it, and all of
/// the operations before that one.
Node Order::next_reuse(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  const std::int32_t cell = written_cell(operation.step(walk.member));
  if (cell < 0 || operation.cancelled(walk.member)) return nothing;
  const Rank host = operation.host_of(operation.rank_of(walk.member));
  const auto ranks = operation.ranks_of(host);
  const std::int64_t last =
      place(walk.operation, host).before + cell - ring_[static_cast<std::size_t>(operation.ring_of(host))];
  if (last < 0 || walk.at == 2 * ranks.size()) return nothing;
  std::uint32_t owner = walk.operation;
  while (place(owner, host).before > last) owner = place(owner, host).previous;
  const std::uint32_t at = walk.at++;
  if (at < ranks.size())
    return release(walk, owner, ranks[at], static_cast<std::int32_t>(last - place(owner, host).before));
  const std::uint32_t previous = place(owner, host).previous;
  return previous == no_operation ? nothing : released(previous, ranks[at - ranks.size()]);
}

/// Completion waits for all steps of the rank; `released` for the release of the last cell, in the order of operations.
Node Order::next_of_moment(Walk& walk) const {
  const Operation& operation = *operations_[walk.operation];
  const Node size = static_cast<Node>(operation.size());
  const Node moment = walk.member - operation.nodes();
  if (moment < size) {
    const Rank rank = static_cast<Rank>(moment);
    const Node node = operation.first_node(rank) + walk.at;
    if (node >= operation.first_node(rank + 1)) return nothing;
    ++walk.at;
    return event(walk, walk.operation, node);
  }
  const Rank rank = static_cast<Rank>(moment - size);
  const Rank host = operation.host_of(rank);
  if (operation.cells_of(host) == 0 || walk.at == 2) return nothing;
  if (walk.at++ == 0) return release(walk, walk.operation, rank, operation.cells_of(host) - 1);
  const std::uint32_t previous = place(walk.operation, host).previous;
  return previous == no_operation ? nothing : released(previous, rank);
}

std::string Order::describe(Node event) const {
  const std::uint32_t index = operation_of(event);
  const Operation& operation = *operations_[index];
  const Node node = event - first_[index];
  const Node size = static_cast<Node>(operation.size());
  std::string text = operations_.size() == 1 ? "" : "operation " + std::to_string(index) + " ";
  if (node < operation.nodes()) return text + operation.name(node);
  if (node < operation.nodes() + size)
    return text + "the completion of rank " + std::to_string(node - operation.nodes());
  return text + "the release of all cells by rank " + std::to_string(node - operation.nodes() - size);
}

void Order::refuse_cycle(Node event) const {
  const auto first = std::ranges::find(stack_, event, &Walk::event);
  std::string text = "deadlock: it waits for itself: " + describe(event);
  std::size_t shown = 0;
  for (auto walk = first + 1; walk != stack_.end() && shown < 8; ++walk, ++shown)
    text += " waits for " + describe(walk->event);
  text += stack_.end() - first - 1 > static_cast<std::ptrdiff_t>(shown) ? " waits for … waits for " : " waits for ";
  text += describe(event);
  for (auto walk = first; walk != stack_.end(); ++walk) {
    const Operation& operation = *operations_[walk->operation];
    const Node node = walk->event - first_[walk->operation];
    if (node < operation.nodes()) operation.refuse(node, text);
  }
  throw Refusal{0, Verdict::no_step, text};
}

}  // namespace tutti::plan
