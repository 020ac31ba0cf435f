// SPDX-License-Identifier: BSD-3-Clause
#include "plan/mutants.hpp"

#include <algorithm>

#include "plan/operation.hpp"
#include "plan/races.hpp"

namespace tutti::plan {
namespace {

using Change = Mutation::Change;

bool overlap(const Slice& a, const Slice& b) {
  return a.buffer != Buffer::none && a.buffer == b.buffer && a.owner == b.owner && a.cell == b.cell && a.count > 0 &&
         b.count > 0 && a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

/// True when a step reads, writes, publishes or awaits a cell up to this one.
bool uses_cell(const Step& step, std::int32_t most) {
  if ((step.verb == Verb::publish || step.verb == Verb::await) && step.cell <= most) return true;
  for (const Slice* slice : {&step.source, &step.target})
    if ((slice->buffer == Buffer::shared || slice->buffer == Buffer::exposed) && slice->cell <= most) return true;
  return false;
}

/// What of a cell a step uses: it reads it or the memory that it exposes, or writes memory that it opens. Or nothing.
Slice used(const Step& step) {
  if (step.source.buffer == Buffer::shared || step.source.buffer == Buffer::exposed) return step.source;
  return step.target.buffer == Buffer::exposed ? step.target : Slice();
}

bool uses_awaited(const Step& step, const Step& await) {
  const Slice slice = used(step);
  return slice.buffer != Buffer::none && slice.cell == await.cell &&
         (await.peer == everyone || await.peer == slice.owner);
}

/// The first step must come before the second one: they touch the same memory and one writes it, one awaits a cell that
/// the other uses, or one releases a cell that the other uses.
bool must_be_ordered(const Step& a, const Step& b) {
  if (overlap(a.target, b.target) || overlap(a.target, b.source) || overlap(a.source, b.target)) return true;
  if (a.verb == Verb::release) return b.verb == Verb::release || uses_cell(b, a.cell);
  if (b.verb == Verb::release) return uses_cell(a, b.cell);
  return a.verb == Verb::await && uses_awaited(b, a) && b.verb != Verb::publish;
}

/// Any await may then mean that what others write is there.
bool opens(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) { return step.open; });
}

/// Looks for reasons why a mutant is as good as the plans it was made from.
class Proof {
 public:
  Proof(std::span<const Plan> plans, const Contract& contract, const Board& board, Checker& checker)
      : plans_(plans), contract_(contract), board_(board), checker_(checker) {}

  /// Empty when none is found.
  std::string find(const Mutation& mutation, std::span<const Plan> mutant) {
    const Plan& plan = plans_[static_cast<std::size_t>(mutation.rank)];
    const Step& step = plan.steps[mutation.step];
    if (mutation.change == Change::unlink) return of_edge(mutation, mutant);
    if (step.verb == Verb::release)
      return "a release moves no data: a later one, or completion, frees the cells, and no cycle waits for it";
    if (mutation.change == Change::remove && step.verb == Verb::await) return of_await(plan, mutation);
    if (mutation.change == Change::cell && step.verb == Verb::await) return of_other_cell(step, mutation);
    if (mutation.change == Change::peer && step.verb == Verb::await) return of_other_peer(plan, mutation);
    if (step.verb == Verb::publish && mutation.change != Change::twice)
      return of_publish(plan.rank, step.cell, mutation);
    if (mutation.change == Change::side && combines_alike(plan, mutation.step))
      return "what it combines is made of the same contribution on both sides";
    if (step.target.buffer == Buffer::none || mutation.change == Change::twice) return "";
    // What the change adds or takes away must not matter: what is written otherwise, before and after the change.
    const bool longer = mutation.change == Change::count && mutation.by > 0;
    const bool shorter = mutation.change == Change::count && mutation.by < 0;
    if (shorter && lie_there_before(mutation, step.target.part(step.target.count - 1, 1)))
      return "the element it leaves out lies there before";
    if (mutation.change == Change::remove && lie_there_before(mutation, step.target))
      return "the elements it leaves out lie there before";
    const Count same = longer ? step.target.count : shorter ? step.target.count - 1 : 0;
    if (!longer && !unread(plans_, mutation, same)) return "";
    if (!shorter && mutation.change != Change::remove && !unread(mutant, mutation, same)) return "";
    return "the elements it writes otherwise are overwritten before they are read, or never read";
  }

 private:
  /// These elements that the step writes are in their place from the start, and no other step writes them.
  bool lie_there_before(const Mutation& mutation, const Slice& elements) const {
    if (elements.buffer != Buffer::output) return false;
    const Plan& plan = plans_[static_cast<std::size_t>(mutation.rank)];
    for (Index step = 0; step < plan.steps.size(); ++step)
      if (step != mutation.step && overlap(plan.steps[step].target, elements)) return false;
    const Promise& promise = contract_.ranks[static_cast<std::size_t>(mutation.rank)];
    for (Count element = elements.offset; element < elements.offset + elements.count; ++element) {
      const Value before = value(promise.before, element);
      if (before.empty() || before != value(promise.after, element)) return false;
    }
    return true;
  }

  /// What an element of output holds, by the contract; empty when it does not say.
  static Value value(const std::vector<Piece>& pieces, Count element) {
    for (const Piece& piece : pieces) {
      if (piece.buffer != Buffer::output || element < piece.offset || element >= piece.offset + piece.count) continue;
      Value value = piece.value;
      for (Contribution& contribution : value) contribution.offset += element - piece.offset;
      return value;
    }
    return {};
  }

  /// The steps that write the target up to this one bring the first contributions of its value, one each, and those are
  /// one rank's, as often as it has edges there.
  bool combines_alike(const Plan& plan, Index last) const {
    const Slice& target = plan.steps[last].target;
    if (target.buffer != Buffer::output || plan.steps[last].verb != Verb::reduce) return false;
    std::size_t written = 0;
    for (Index step = 0; step <= last; ++step) {
      const Slice& other = plan.steps[step].target;
      if (overlap(other, target) && !(other == target)) return false;
      written += other == target ? 1 : 0;
    }
    for (Count element = target.offset; element < target.offset + target.count; ++element) {
      const Value sum = value(contract_.ranks[static_cast<std::size_t>(plan.rank)].after, element);
      if (sum.size() < written) return false;
      for (std::size_t i = 1; i < written; ++i)
        if (sum[i] != sum[0]) return false;
    }
    return true;
  }

  bool unread(std::span<const Plan> plans, const Mutation& mutation, Count from) {
    return checker_.check_without(plans, contract_, board_, mutation.rank, mutation.step, from).ok;
  }

  static Reach reach(std::span<const Plan> plans, Rank rank) {
    Operation operation;
    operation.join(plans, {});
    operation.choose(0);
    Reach reach;
    reach.build(operation, rank);
    return reach;
  }

  /// Without the edge some steps are no longer ordered; that does not matter when none of these pairs needs an order.
  std::string of_edge(const Mutation& mutation, std::span<const Plan> mutant) const {
    const Plan& plan = plans_[static_cast<std::size_t>(mutation.rank)];
    const Reach before = reach(plans_, mutation.rank), after = reach(mutant, mutation.rank);
    const Index from = plan.after(plan.steps[mutation.step])[static_cast<std::size_t>(mutation.by)];
    if (plan.steps[from].verb == Verb::await && opens(plan)) return "";
    if (after.before(from, mutation.step)) return "the other edges imply it";
    for (Index a = 0; a <= from; ++a)
      for (Index b = mutation.step; b < plan.steps.size(); ++b)
        if (before.before(a, b) && !after.before(a, b) && must_be_ordered(plan.steps[a], plan.steps[b]) &&
            (plan.steps[b].verb == Verb::release || !shows_what_none_reads(plan, a)))
          return "";
    return "it orders only steps that touch nothing in common";
  }

  /// Every step that uses a cell which is awaited here comes after another await of that cell.
  std::string of_await(const Plan& plan, const Mutation& mutation) const {
    const Step& await = plan.steps[mutation.step];
    if (opens(plan)) return "";
    const Reach before = reach(plans_, plan.rank);
    const auto awaited_otherwise = [&](Index reader, Rank owner) {
      for (Index a = 0; a < reader; ++a)
        if (a != mutation.step && plan.steps[a].verb == Verb::await && plan.steps[a].cell == await.cell &&
            (plan.steps[a].peer == owner || plan.steps[a].peer == everyone) && before.before(a, reader))
          return true;
      return false;
    };
    for (Index reader = 0; reader < plan.steps.size(); ++reader) {
      const Slice slice = used(plan.steps[reader]);
      if (!uses_awaited(plan.steps[reader], await) || slice.owner == plan.rank) continue;
      if (!awaited_otherwise(reader, slice.owner)) return "";
    }
    return "no step uses the cell after this await alone";
  }

  /// The cell awaited instead is published after all that the other's publishing comes after.
  std::string of_other_cell(const Step& await, const Mutation& mutation) const {
    if (await.peer == everyone) return "";
    const Plan& owner = plans_[static_cast<std::size_t>(await.peer)];
    const Index publish = publisher(owner, await.cell);
    const Index instead = publisher(owner, await.cell + static_cast<std::int32_t>(mutation.by));
    if (publish == Verdict::no_step || instead == Verdict::no_step) return "";
    const Reach order = reach(plans_, await.peer);
    for (Index before = 0; before < publish; ++before)
      if (order.before(before, publish) && !order.before(before, instead)) return "";
    return "the cell it awaits instead comes after all that the other one comes after";
  }

  /// Awaiting somebody else only adds an order, which deadlocks nowhere, or the mutant would not have survived.
  std::string of_other_peer(const Plan& plan, const Mutation& mutation) const {
    if (of_await(plan, mutation).empty()) return "";
    std::vector<Plan> without(plans_.begin(), plans_.end());
    perform({.change = Change::remove, .rank = mutation.rank, .step = mutation.step}, without);
    return checker_.check(without, contract_, board_).ok ? "the await may as well be left out" : "";
  }

  static Index publisher(const Plan& plan, std::int32_t cell) {
    for (Index index = 0; index < plan.steps.size(); ++index)
      if (plan.steps[index].verb == Verb::publish && plan.steps[index].cell == cell) return index;
    return Verdict::no_step;
  }

  bool read(Rank owner, std::int32_t cell) const {
    for (const Plan& plan : plans_)
      for (const Step& step : plan.steps)
        if (const Slice slice = used(step); plan.rank != owner && slice.owner == owner && slice.cell == cell)
          return true;
    return false;
  }

  /// Whatever happens to the memory, only the count that is published with it matters.
  bool shows_what_none_reads(const Plan& plan, Index index) const {
    const Step& step = plan.steps[index];
    return step.verb == Verb::publish && step.source.buffer != Buffer::shared && !read(plan.rank, step.cell);
  }

  bool same_host(Rank a, Rank b) const {
    return board_.hosts.empty() ||
           board_.hosts[static_cast<std::size_t>(a)] == board_.hosts[static_cast<std::size_t>(b)];
  }

  std::string of_publish(Rank owner, std::int32_t cell, const Mutation& mutation) const {
    if (mutation.change == Change::offset && !read(owner, cell)) return "no step reads what it shows";
    for (const Plan& plan : plans_)
      for (const Step& step : plan.steps)
        if (step.verb == Verb::await && step.cell == cell && plan.rank != owner &&
            (step.peer == owner || (step.peer == everyone && same_host(plan.rank, owner))))
          return "";
    return "no rank awaits the cell";
  }

  std::span<const Plan> plans_;
  const Contract& contract_;
  const Board& board_;
  Checker& checker_;
};

}  // namespace

std::uint64_t MutationReport::unproved() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(survivors, [](const Survivor& s) { return s.proof.empty(); }));
}

std::string MutationReport::text() const {
  std::string text = std::to_string(mutants) + " mutants, " + std::to_string(killed) + " killed, " +
                     std::to_string(survivors.size() - unproved()) + " survive with proof, " +
                     std::to_string(unproved()) + " without\n";
  for (const Survivor& survivor : survivors)
    text += "  " + survivor.mutation + ": " + (survivor.proof.empty() ? "NO PROOF" : survivor.proof) + "\n";
  return text;
}

MutationReport mutate(std::span<const Plan> plans, const Contract& contract, const Board& board, Checker& checker) {
  MutationReport report;
  Proof proof(plans, contract, board, checker);
  const std::vector<Plan> original(plans.begin(), plans.end());
  std::vector<Plan> mutant = original;
  for (const Plan& plan : original)
    for (const Mutation& mutation : mutations(plan, contract)) {
      perform(mutation, mutant);
      ++report.mutants;
      if (checker.check(mutant, contract, board).ok)
        report.survivors.push_back({describe(mutation, original), proof.find(mutation, mutant)});
      else
        ++report.killed;
      // At most two plans differ: that of the mutation, and the other end of its message.
      const auto rank = static_cast<std::size_t>(mutation.rank);
      mutant[rank] = original[rank];
      const Rank peer = original[rank].steps[mutation.step].peer;
      if (peer >= 0) mutant[static_cast<std::size_t>(peer)] = original[static_cast<std::size_t>(peer)];
    }
  return report;
}

}  // namespace tutti::plan
