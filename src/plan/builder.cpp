// SPDX-License-Identifier: BSD-3-Clause
#include "plan/builder.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "plan/text.hpp"
#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

[[noreturn]] void refuse(std::string text) { throw Error(Cause::usage, std::move(text)); }

void require_slice(const Slice& slice, const char* what) {
  if (slice.buffer == Buffer::none) refuse(std::string("plan: the ") + what + " of a step is no slice; name a buffer");
  if (slice.offset < 0 || slice.count < 0 || slice.count > std::numeric_limits<Count>::max() - slice.offset)
    refuse(std::string("plan: the ") + what + " has offset " + std::to_string(slice.offset) + " and count " +
           std::to_string(slice.count) + "; both must be 0 or more");
}

void require_peer(Rank peer, Rank rank, Rank size) {
  if (peer < 0 || peer >= size)
    refuse("plan: rank " + std::to_string(peer) + " is not in a group of " + std::to_string(size) +
           "; name a rank from 0 to " + std::to_string(size - 1));
  if (peer == rank) refuse("plan: rank " + std::to_string(rank) + " names itself as peer; use copy or reduce instead");
}

/// Which steps may be cancelled, and then end although steps that they wait for have not.
std::vector<bool> find_alternatives(const std::vector<std::vector<Index>>& after, const std::vector<Step>& steps) {
  std::vector<bool> alternatives(steps.size());
  for (Index step = 0; step < steps.size(); ++step)
    for (const Index before : after[step])
      if (steps[step].any) alternatives[before] = true;
  return alternatives;
}

/// Leaves out predecessors that another predecessor already comes after. Looks only a bounded way back: an edge too
/// many is harmless.
class Reduction {
 public:
  Reduction(const std::vector<std::vector<Index>>& after, const std::vector<Step>& steps,
            const std::vector<bool>& alternatives)
      : after_(after), steps_(steps), alternatives_(alternatives), seen_(after.size(), none) {}

  void reduce(Index step, std::vector<Index>& predecessors) {
    if (predecessors.size() < 2) return;
    const Index lowest = predecessors.front();
    stack_ = predecessors;
    for (std::size_t looked = 0; !stack_.empty() && looked < limit;) {
      const Index current = stack_.back();
      stack_.pop_back();
      // A step that starts after any of several tells nothing about each single one.
      if (steps_[current].any || alternatives_[current]) continue;
      looked += after_[current].size();
      for (const Index before : after_[current]) {
        if (before < lowest || seen_[before] == step) continue;
        seen_[before] = step;
        stack_.push_back(before);
      }
    }
    std::erase_if(predecessors, [&](Index p) { return seen_[p] == step; });
  }

 private:
  static constexpr Index none = std::numeric_limits<Index>::max();
  static constexpr std::size_t limit = 1 << 12;  ///< Edges.
  const std::vector<std::vector<Index>>& after_;
  const std::vector<Step>& steps_;
  const std::vector<bool>& alternatives_;
  std::vector<Index> seen_, stack_;
};

/// Steps of [begin, end) after which no other step of that range comes.
std::vector<Index> last_of_round(const std::vector<std::vector<Index>>& after, const std::vector<bool>& alternatives,
                                 Index begin, Index end) {
  std::vector<bool> followed(end - begin);
  for (Index step = begin; step < end; ++step)
    for (const Index before : after[step])
      if (before >= begin && !alternatives[step]) followed[before - begin] = true;
  std::vector<Index> last;
  for (Index step = begin; step < end; ++step)
    if (!followed[step - begin]) last.push_back(step);
  return last;
}

/// Between two rounds: each of the later steps waits for each of the earlier ones.
void require_few_edges(std::size_t earlier, std::ptrdiff_t later) {
  constexpr std::size_t most = std::size_t{1} << 26;
  if (later > 0 && earlier > most / static_cast<std::size_t>(later))
    refuse(
        "plan: " + std::to_string(later) + " steps of a round wait for " + std::to_string(earlier) +
        " of the one before, which is too much; put a round of one step, such as a copy of 0 elements, between them");
}

/// Gives every step of the rounds after the first the edges that make it wait for the round before. A step that waits
/// for one of its own round needs none: that one waits already.
void link_rounds(std::vector<std::vector<Index>>& after, std::vector<Step>& steps,
                 const std::vector<bool>& alternatives, const std::vector<Index>& rounds) {
  const Index all = static_cast<Index>(steps.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const Index begin = rounds[round];
    const Index end = round + 1 < rounds.size() ? rounds[round + 1] : all;
    const std::vector<Index> last = last_of_round(after, alternatives, round == 0 ? 0 : rounds[round - 1], begin);
    const auto inside = [begin](Index p) { return p >= begin; };
    require_few_edges(last.size(), std::count_if(after.begin() + begin, after.begin() + end, [&](const auto& before) {
                        return std::ranges::none_of(before, inside);
                      }));
    for (Index step = begin; step < end; ++step) {
      std::vector<Index>& before = after[step];
      if (steps[step].any && !std::ranges::all_of(before, inside))
        refuse("plan: step " + std::to_string(step) +
               " waits for any of several steps of an earlier round, but a round waits for all of them; keep "
               "after_any within one round");
      if (std::ranges::any_of(before, inside))
        std::erase_if(before, [begin](Index p) { return p < begin; });
      else
        before = last;
    }
  }
}

}  // namespace

Handle Handle::after(std::initializer_list<Handle> predecessors) const {
  return after(std::vector<Handle>(predecessors));
}

Handle Handle::after(const std::vector<Handle>& predecessors) const {
  if (exists()) builder_->link(index_, predecessors, false);
  return *this;
}

Handle Handle::after_any(const std::vector<Handle>& predecessors) const {
  if (exists()) builder_->link(index_, predecessors, true);
  return *this;
}

Builder::Builder(Rank rank, Rank size) {
  if (size < 1 || rank < 0 || rank >= size)
    refuse("plan: rank " + std::to_string(rank) + " of " + std::to_string(size) +
           " does not exist; ranks go from 0 to size - 1");
  plan_.rank = rank;
  plan_.size = size;
}

Slice Builder::scratch(Count count) {
  if (count < 0 || count > std::numeric_limits<Count>::max() - plan_.scratch)
    refuse("plan: " + std::to_string(count) + " elements of scratch; ask for 0 or more");
  const Slice fresh{Buffer::scratch, -1, -1, plan_.scratch, count};
  plan_.scratch += count;
  return fresh;
}

void Builder::use(Ring ring, std::int32_t cells) {
  if (cells < 0) refuse("plan: " + std::to_string(cells) + " cells; use 0 or more");
  plan_.ring = ring;
  plan_.cells = cells;
}

void Builder::bound(Count input, Count output) {
  if (input < 0 || output < 0)
    refuse("plan: buffers of " + std::to_string(input) + " and " + std::to_string(output) +
           " elements; both must be 0 or more");
  lengths_ = {input, output};
}

void Builder::require_inside(const Slice& slice) const {
  if (!lengths_ || slice.count == 0) return;
  const Count length = slice.buffer == Buffer::input    ? lengths_->input
                       : slice.buffer == Buffer::output ? lengths_->output
                                                        : plan_.scratch;
  if (slice.offset + slice.count > length)
    refuse("plan: " + std::string(word(slice.buffer)) + "[" + std::to_string(slice.offset) + ".." +
           std::to_string(slice.offset + slice.count) + ") reaches beyond its " + std::to_string(length) +
           " elements; make the buffer longer or the slice shorter");
}

void Builder::require_source(const Slice& slice) const {
  require_slice(slice, "source");
  require_inside(slice);
}

void Builder::require_target(const Slice& slice) const {
  require_slice(slice, "target");
  require_inside(slice);
  if (lengths_ && slice.buffer == Buffer::input)
    refuse("plan: the step writes input, which is never written; write output or scratch");
}

void Builder::require_pair(const char* verb, const Slice& source, const Slice& target) const {
  require_source(source);
  require_target(target);
  if (source.count != target.count)
    refuse("plan: " + std::string(verb) + " of " + std::to_string(source.count) + " elements into " +
           std::to_string(target.count) + "; give both slices the same count");
  if (lengths_ && source.buffer == target.buffer && source.offset < target.offset + target.count &&
      target.offset < source.offset + source.count)
    refuse("plan: " + std::string(verb) + " from " + std::string(word(source.buffer)) +
           " to a part of itself: source and target overlap; go by way of scratch");
}

Handle Builder::add(Step step) {
  const Index index = static_cast<Index>(plan_.steps.size());
  plan_.steps.push_back(step);
  after_.emplace_back();
  return Handle(this, index);
}

/// The number of the next message. A plan without messages needs no counts, which are as many as ranks.
std::uint32_t Builder::count_message(std::vector<std::uint32_t>& counts, Rank peer) const {
  if (counts.empty()) counts.resize(static_cast<std::size_t>(plan_.size));
  return counts[static_cast<std::size_t>(peer)]++;
}

Handle Builder::send(Rank to, Slice source) {
  require_peer(to, plan_.rank, plan_.size);
  require_source(source);
  return add({.verb = Verb::send, .peer = to, .message = count_message(sent_, to), .source = source});
}

Handle Builder::recv(Rank from, Slice target) {
  require_peer(from, plan_.rank, plan_.size);
  require_target(target);
  return add({.verb = Verb::recv, .peer = from, .message = count_message(received_, from), .target = target});
}

Handle Builder::recv_reduce(Rank from, Slice target, Side side) {
  require_peer(from, plan_.rank, plan_.size);
  require_target(target);
  const std::uint32_t message = count_message(received_, from);
  return add({.verb = Verb::recv_reduce, .side = side, .peer = from, .message = message, .target = target});
}

Handle Builder::reduce(Slice source, Slice target, Side side) {
  require_pair("reduce", source, target);
  return add({.verb = Verb::reduce, .side = side, .source = source, .target = target});
}

Handle Builder::copy(Slice source, Slice target) {
  require_pair("copy", source, target);
  return add({.verb = Verb::copy, .source = source, .target = target});
}

Handle Builder::publish(std::int32_t cell, Slice content) {
  require_slice(content, "content");
  return add({.verb = Verb::publish, .cell = cell, .source = content});
}

Handle Builder::open(std::int32_t cell, Slice content) {
  require_slice(content, "content");
  return add({.verb = Verb::publish, .open = true, .cell = cell, .source = content});
}

Handle Builder::await(Rank owner, std::int32_t cell, Count expected) {
  if (owner != everyone) require_peer(owner, plan_.rank, plan_.size);
  if (expected < 0) refuse("plan: await of " + std::to_string(expected) + " elements; expect 0 or more");
  Step step{.verb = Verb::await, .peer = owner, .cell = cell};
  step.source.count = expected;
  return add(step);
}

Handle Builder::release(std::int32_t cell) { return add({.verb = Verb::release, .cell = cell}); }

void Builder::link(Index step, const std::vector<Handle>& predecessors, bool any) {
  std::vector<Index>& edges = after_.at(step);
  const std::size_t before = edges.size();
  for (const Handle& predecessor : predecessors) {
    if (!predecessor.exists()) continue;
    if (predecessor.builder_ != this || predecessor.index_ >= step)
      refuse("plan: step " + std::to_string(step) + " waits for step " + std::to_string(predecessor.index_) +
             ", which is not an earlier step of the same plan; add that one first");
    edges.push_back(predecessor.index_);
  }
  if (edges.size() == before) return;
  if (before != 0 && (any || plan_.steps[step].any))
    refuse("plan: step " + std::to_string(step) + " waits for all and for any; give it one call of after_any alone");
  // Mostly they are added in their order.
  if (std::ranges::adjacent_find(edges.begin() + static_cast<std::ptrdiff_t>(before == 0 ? 0 : before - 1), edges.end(),
                                 std::greater_equal<>()) != edges.end()) {
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
  plan_.steps[step].any = any && edges.size() > 1;
}

void Builder::round() {
  const Index next = static_cast<Index>(plan_.steps.size());
  if (next != 0 && (rounds_.empty() || rounds_.back() != next)) rounds_.push_back(next);
}

Plan Builder::build() {
  for (const Step& step : plan_.steps) {
    const bool board = step.verb == Verb::publish || step.verb == Verb::await || step.verb == Verb::release;
    if (board && (step.cell < 0 || step.cell >= plan_.cells))
      refuse("plan: cell " + std::to_string(step.cell) + ", but the operation takes " + std::to_string(plan_.cells) +
             " cells; call use() with as many as it needs");
  }
  const std::vector<bool> alternatives = find_alternatives(after_, plan_.steps);
  link_rounds(after_, plan_.steps, alternatives, rounds_);
  Reduction reduction(after_, plan_.steps, alternatives);
  std::vector<Index> edges;
  for (Index step = 0; step < plan_.steps.size(); ++step) {
    edges = after_[step];
    if (!plan_.steps[step].any) reduction.reduce(step, edges);
    plan_.steps[step].first = static_cast<Index>(plan_.edges.size());
    plan_.edges.insert(plan_.edges.end(), edges.begin(), edges.end());
    plan_.steps[step].last = static_cast<Index>(plan_.edges.size());
  }
  Builder empty(plan_.rank, plan_.size);
  std::swap(*this, empty);
  return std::move(empty.plan_);
}

}  // namespace tutti::plan
