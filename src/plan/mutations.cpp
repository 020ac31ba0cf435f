// SPDX-License-Identifier: BSD-3-Clause
#include "plan/mutations.hpp"

#include <algorithm>

#include "plan/operation.hpp"
#include "plan/text.hpp"

namespace tutti::plan {
namespace {

using Change = Mutation::Change;
using Operand = Mutation::Operand;
using Edges = std::vector<std::vector<Index>>;

bool is_cell(const Slice& slice) { return slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed; }

/// Lists the mutations of one plan.
class List {
 public:
  List(const Plan& plan, const Contract& contract) : plan_(plan), contract_(contract) {}

  std::vector<Mutation> all() {
    for (index_ = 0; index_ < plan_.steps.size(); ++index_) {
      const Step& step = plan_.steps[index_];
      add(Change::remove);
      for (Index edge = 0; edge < step.last - step.first; ++edge) add(Change::unlink, static_cast<int>(edge));
      add_of_verb(step);
      add_of_slice(step.source, Operand::source);
      add_of_slice(step.target, Operand::target);
    }
    return std::move(list_);
  }

 private:
  void add(Change change, int by = 0, Operand operand = Operand::step) {
    list_.push_back({change, operand, plan_.rank, index_, by});
  }
  void add_both(Change change, Operand operand = Operand::step) {
    add(change, 1, operand);
    add(change, -1, operand);
  }
  void add_peer(Operand operand) {
    if (plan_.size > 1) add(Change::peer, 1, operand);
    if (plan_.size > 2) add(Change::peer, -1, operand);
  }
  void add_cell(std::int32_t cell, Operand operand) {
    if (cell + 1 < plan_.cells) add(Change::cell, 1, operand);
    if (cell > 0) add(Change::cell, -1, operand);
  }

  void add_of_verb(const Step& step) {
    switch (step.verb) {
      case Verb::send:
      case Verb::recv:
      case Verb::recv_reduce:
        add(Change::message, 1);
        add_peer(Operand::step);
        if (step.verb != Verb::recv) add(Change::twice);
        break;
      case Verb::reduce:
        add(Change::twice);
        break;
      case Verb::publish:
        add(Change::twice);
        add_cell(step.cell, Operand::step);
        break;
      case Verb::await:
        if (step.peer != everyone) add_peer(Operand::step);
        add_cell(step.cell, Operand::step);
        add(Change::expected, 1);
        if (step.source.count > 0) add(Change::expected, -1);
        break;
      case Verb::release:
        add_cell(step.cell, Operand::step);
        break;
      case Verb::copy:
        break;
    }
    const Count count = step.target.buffer != Buffer::none ? step.target.count : step.source.count;
    if (step.verb != Verb::await && step.verb != Verb::release) {
      add(Change::count, 1);
      if (count > 0) add(Change::count, -1);
    }
    if (reduces(step.verb) && !contract_.commutative) add(Change::side);
  }

  void add_of_slice(const Slice& slice, Operand operand) {
    if (slice.buffer == Buffer::none || slice.count == 0) return;
    add(Change::offset, 1, operand);
    if (slice.offset > 0) add(Change::offset, -1, operand);
    if (!is_cell(slice)) return;
    add_peer(operand);
    add_cell(slice.cell, operand);
  }

  const Plan& plan_;
  const Contract& contract_;
  Index index_ = 0;
  std::vector<Mutation> list_;
};

Edges edges_of(const Plan& plan) {
  Edges edges;
  for (const Step& step : plan.steps) edges.emplace_back(plan.after(step).begin(), plan.after(step).end());
  return edges;
}

void set_edges(Plan& plan, const Edges& edges) {
  plan.edges.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    plan.steps[i].first = static_cast<Index>(plan.edges.size());
    plan.edges.insert(plan.edges.end(), edges[i].begin(), edges[i].end());
    plan.steps[i].last = static_cast<Index>(plan.edges.size());
    if (edges[i].empty()) plan.steps[i].any = false;
  }
}

void remove(Plan& plan, Index index) {
  Edges edges = edges_of(plan);
  for (Index later = index + 1; later < edges.size(); ++later) {
    if (std::erase(edges[later], index) > 0)
      edges[later].insert(edges[later].end(), edges[index].begin(), edges[index].end());
    std::ranges::sort(edges[later]);
    edges[later].erase(std::unique(edges[later].begin(), edges[later].end()), edges[later].end());
    for (Index& before : edges[later])
      if (before > index) --before;
  }
  edges.erase(edges.begin() + index);
  plan.steps.erase(plan.steps.begin() + index);
  set_edges(plan, edges);
}

/// The step stands twice, the second one after the first and before all that came after it.
void repeat(Plan& plan, Index index) {
  Edges edges = edges_of(plan);
  for (Index later = index + 1; later < edges.size(); ++later)
    for (Index& before : edges[later])
      if (before >= index) ++before;
  edges.insert(edges.begin() + index + 1, {index});
  plan.steps.insert(plan.steps.begin() + index + 1, plan.steps[index]);
  plan.steps[index + 1].any = false;
  set_edges(plan, edges);
}

/// A message that is combined twice is sent twice too, under a number of its own.
void repeat_message(std::vector<Plan>& plans, Rank receiver, Index index) {
  Plan& to = plans[static_cast<std::size_t>(receiver)];
  Plan& from = plans[static_cast<std::size_t>(to.steps[index].peer)];
  const std::uint32_t message = to.steps[index].message;
  std::uint32_t fresh = 0;
  for (const Step& step : to.steps)
    if (receives(step.verb) && step.peer == from.rank) fresh = std::max(fresh, step.message + 1);
  const auto send = std::ranges::find_if(from.steps, [&](const Step& step) {
    return step.verb == Verb::send && step.peer == receiver && step.message == message;
  });
  if (send == from.steps.end()) return;
  const auto sent = static_cast<Index>(send - from.steps.begin());
  repeat(from, sent);
  from.steps[sent + 1].message = fresh;
  repeat(to, index);
  to.steps[index + 1].message = fresh;
}

void shift(Rank& rank, int by, Rank size) {
  if (rank >= 0) rank = (rank + by + size) % size;
}

void shift_count(Step& step, int by) {
  if (step.source.buffer != Buffer::none) step.source.count += by;
  if (step.target.buffer != Buffer::none) step.target.count += by;
}

std::string_view word(Change change) {
  constexpr std::string_view words[] = {"removed", "edge", "twice",   "offset", "count",
                                        "peer",    "cell", "message", "side",   "expected"};
  return words[static_cast<std::size_t>(change)];
}

}  // namespace

std::vector<Mutation> mutations(const Plan& plan, const Contract& contract) { return List(plan, contract).all(); }

void perform(const Mutation& mutation, std::vector<Plan>& plans) {
  Plan& plan = plans[static_cast<std::size_t>(mutation.rank)];
  Step& step = plan.steps[mutation.step];
  Slice& slice = mutation.operand == Operand::source ? step.source : step.target;
  const bool whole = mutation.operand == Operand::step;
  switch (mutation.change) {
    case Change::remove:
      return remove(plan, mutation.step);
    case Change::unlink: {
      Edges edges = edges_of(plan);
      edges[mutation.step].erase(edges[mutation.step].begin() + mutation.by);
      return set_edges(plan, edges);
    }
    case Change::twice:
      if (step.verb == Verb::recv_reduce) return repeat_message(plans, mutation.rank, mutation.step);
      return repeat(plan, mutation.step);
    case Change::offset:
      slice.offset += mutation.by;
      return;
    case Change::count:
      return shift_count(step, mutation.by);
    case Change::peer:
      return shift(whole ? step.peer : slice.owner, mutation.by, plan.size);
    case Change::cell:
      (whole ? step.cell : slice.cell) += mutation.by;
      return;
    case Change::message:
      step.message += static_cast<std::uint32_t>(mutation.by);
      return;
    case Change::side:
      step.side = step.side == Side::left ? Side::right : Side::left;
      return;
    case Change::expected:
      step.source.count += mutation.by;
      return;
  }
}

std::string describe(const Mutation& mutation, const std::vector<Plan>& plans) {
  const Plan& plan = plans[static_cast<std::size_t>(mutation.rank)];
  const Step& step = plan.steps[mutation.step];
  std::string text = "rank " + std::to_string(mutation.rank) + " s" + std::to_string(mutation.step) + " (";
  text += print(step) + "): ";
  if (mutation.operand != Operand::step) text += mutation.operand == Operand::source ? "source " : "target ";
  text += word(mutation.change);
  if (mutation.change == Change::unlink)
    text += " after s" + std::to_string(plan.after(step)[static_cast<std::size_t>(mutation.by)]) + " removed";
  else if (mutation.by != 0)
    text += mutation.by > 0 ? " + 1" : " - 1";
  return text;
}

}  // namespace tutti::plan
