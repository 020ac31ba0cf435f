// SPDX-License-Identifier: BSD-3-Clause
#include "plan/races.hpp"

#include <algorithm>
#include <tuple>

#include "plan/text.hpp"

namespace tutti::plan {

/// The order of so many takes half a gigabyte: a bit for each pair.
static constexpr std::size_t most_steps = std::size_t{1} << 16;

void Reach::build(const Operation& operation, Rank rank) {
  const Plan& plan = operation.plan(rank);
  const Node first = operation.first_node(rank);
  words_ = (plan.steps.size() + 63) / 64;
  rows_.assign(plan.steps.size() * words_, 0);
  for (Index step = 0; step < plan.steps.size(); ++step) {
    const Node chosen = operation.chosen(first + step);
    const auto edges = plan.after(plan.steps[step]);
    if (chosen == nothing) {
      for (const Index before : edges) follow(step, before);
    } else if (!operation.cancelled(first + step)) {
      follow(step, chosen - first);
      // The cancelled ones touch nothing any more either; but what came before them may still go on.
      for (const Index before : edges) rows_[step * words_ + before / 64] |= std::uint64_t{1} << (before % 64);
    }
  }
}

void Reach::follow(Index step, Index before) {
  std::uint64_t* const to = rows_.data() + step * words_;
  const std::uint64_t* const from = rows_.data() + before * words_;
  for (std::size_t word = 0; word <= before / 64; ++word) to[word] |= from[word];
  to[before / 64] |= std::uint64_t{1} << (before % 64);
}

void Races::check(const Operation& operation) {
  operation_ = &operation;
  kept_at_.assign(operation.plans().size(), 0);
  std::size_t last = 0;
  for (Node node = 0; node < operation.nodes(); ++node) {
    const Step& step = operation.step(node);
    if (step.verb != Verb::publish || step.source.buffer == Buffer::shared) continue;
    std::size_t& at = kept_at_[static_cast<std::size_t>(operation.rank_of(node))];
    if (at == 0) at = ++last;
  }
  if (reaches_.size() < last + 1) reaches_.resize(last + 1);
  for (rank_ = 0; rank_ < operation.size(); ++rank_) {
    if (const std::size_t steps = operation.plan(rank_).steps.size(); steps > most_steps)
      refuse(Verdict::no_step, "it has " + std::to_string(steps) + " steps, and of more than " +
                                   std::to_string(most_steps) +
                                   " it is not checked that none race; check a smaller case of the same pattern");
    reaches_[kept_at_[static_cast<std::size_t>(rank_)]].build(operation, rank_);
    check_rank();
  }
}

void Races::refuse(Index index, std::string reason) const { throw Refusal{rank_, index, std::move(reason)}; }

void Races::check_rank() {
  const Plan& plan = operation_->plan(rank_);
  accesses_.clear();
  awaits_.clear();
  for (Index index = 0; index < plan.steps.size(); ++index) collect(index, plan.steps[index]);
  check_overlaps();
  if (plan.cells == 0) return;
  std::ranges::sort(awaits_);
  Index last_release = Verdict::no_step;
  for (const Operation::Release& release : operation_->releases(rank_)) {
    const Index index = operation_->index_of(release.node);
    if (last_release != Verdict::no_step && !local().before(last_release, index))
      refuse(index, "no edges order it after the release of step s" + std::to_string(last_release));
    last_release = index;
  }
  for (Index index = 0; index < plan.steps.size(); ++index) check_cells(index, plan.steps[index]);
}

void Races::collect(Index index, const Step& step) {
  if (step.verb == Verb::await) {
    if (!operation_->cancelled(operation_->first_node(rank_) + index)) awaits_.push_back({step.cell, step.peer, index});
    return;
  }
  // Publishing own cells reads them; publishing other memory exposes it, which is checked over all ranks.
  if (step.verb != Verb::publish || step.source.buffer == Buffer::shared) touch(index, step.source, false);
  touch(index, step.target, true);
}

void Races::touch(Index index, const Slice& slice, bool write) {
  const bool own_cell = slice.buffer == Buffer::shared && slice.owner == rank_;
  if (slice.count == 0 || (slice.buffer != Buffer::output && slice.buffer != Buffer::scratch && !own_cell)) return;
  const std::uint64_t region =
      static_cast<std::uint64_t>(slice.buffer) << 32 | (own_cell ? static_cast<std::uint32_t>(slice.cell) : 0);
  accesses_.push_back({region, slice.offset, slice.offset + slice.count, index, write});
}

void Races::check_overlaps() {
  const auto less = [](const Access& a, const Access& b) {
    return std::tie(a.region, a.begin) < std::tie(b.region, b.begin);
  };
  if (!std::ranges::is_sorted(accesses_, less)) std::ranges::stable_sort(accesses_, less);
  const Reach& reach = local();
  for (auto a = accesses_.begin(); a != accesses_.end(); ++a)
    for (auto b = a + 1; b != accesses_.end() && b->region == a->region && b->begin < a->end; ++b) {
      if (!(a->write || b->write) || a->step == b->step || reach.ordered(a->step, b->step)) continue;
      const auto [first, second] = std::minmax(a->step, b->step);
      refuse(second, "it races with step s" + std::to_string(first) + " (" +
                         print(operation_->plan(rank_).steps[first]) + "): both touch " +
                         std::string(word(static_cast<Buffer>(a->region >> 32))) + "[" + std::to_string(b->begin) +
                         ".." + std::to_string(std::min(a->end, b->end)) + "), one writes it, and no edges order them");
    }
}

void Races::check_cells(Index index, const Step& step) const {
  if (operation_->cancelled(operation_->first_node(rank_) + index)) return;
  if (step.verb == Verb::publish || step.verb == Verb::await) check_cell(index, rank_, step.cell);
  for (const Slice* slice : {&step.source, &step.target}) {
    if (slice->buffer != Buffer::shared && slice->buffer != Buffer::exposed) continue;
    check_cell(index, slice->owner, slice->cell);
    if (slice->owner != rank_) {
      if (!awaited(index, slice->owner, slice->cell))
        refuse(index, "it uses cell " + std::to_string(slice->cell) + " of rank " + std::to_string(slice->owner) +
                          ", but no await of that cell comes before it");
    } else if (slice == &step.target) {
      const Index publish = operation_->index_of(operation_->publisher(rank_, slice->cell));
      if (!local().before(index, publish))
        refuse(index, "it writes the cell not provably before step s" + std::to_string(publish) + " publishes it");
    }
  }
}

/// Whoever uses a cell does so before this rank has released it.
void Races::check_cell(Index index, Rank owner, std::int32_t cell) const {
  const Node release = operation_->release_of(rank_, cell);
  if (release == nothing || local().before(index, operation_->index_of(release))) return;
  refuse(index, "it uses cell " + std::to_string(cell) + (owner == rank_ ? "" : " of rank " + std::to_string(owner)) +
                    " not provably before step s" + std::to_string(operation_->index_of(release)) + " releases it");
}

bool Races::awaited(Index index, Rank owner, std::int32_t cell) const {
  for (const Rank awaited : {owner, everyone})
    for (auto await = std::ranges::lower_bound(awaits_, Awaited{cell, awaited, 0});
         await != awaits_.end() && await->cell == cell && await->owner == awaited; ++await)
      if (local().before(await->step, index)) return true;
  return false;
}

}  // namespace tutti::plan
