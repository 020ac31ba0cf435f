// SPDX-License-Identifier: BSD-3-Clause
#include "plan/exposures.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::plan {

void Exposures::check(const Operation& operation, const Order& order, const Races& races, Causality& causality) {
  operation_ = &operation;
  collect(races);
  if (theirs_ == 0) return;
  // Accesses are watched in batches, so that memory stays bounded.
  for (std::size_t begin = 0; begin < accesses_.size(); begin += batch) {
    const std::size_t end = std::min(accesses_.size(), begin + batch);
    causality.begin(order, end - begin);
    for (std::size_t i = begin; i < end; ++i) causality.mark(accesses_[i].node, i - begin);
    causality.spread(operation, order);
    look(causality, begin, end);
  }
  for (const Pair& pair : pairs_)
    if (!pair.ordered) refuse_pair(pair);
  for (std::size_t i = 0; i < theirs_; ++i) {
    const Access& access = accesses_[i];
    if (!access.seen_by_owner)
      operation.refuse(access.node, touch(access) + ", but no step of that rank comes after the " + verb(access) +
                                        ": it may be complete, and its memory the user's again, too early");
  }
}

void Exposures::refuse_pair(const Pair& pair) const {
  const Access &theirs = accesses_[pair.theirs], &other = accesses_[pair.other];
  operation_->refuse(other.node,
                     touch(other) + ", while " + operation_->name(theirs.node) + " may " + verb(theirs) + " it");
}

/// "it reads memory that rank 0 s1 (publish ...) exposes"
std::string Exposures::touch(const Access& access) const {
  return "it " + verb(access) + "s memory that " + operation_->name(access.publish) + " exposes";
}

void Exposures::collect(const Races& races) {
  accesses_.clear();
  pairs_.clear();
  theirs_ = 0;
  if (operation_->cells() == 0) return;
  collect_theirs();
  theirs_ = accesses_.size();
  Node last = nothing;
  for (std::size_t i = 0; i < theirs_; ++i) {
    const Node publish = accesses_[i].publish;
    if (publish != last) collect_own(publish, races);
    last = publish;
  }
  pair_theirs_with_own();
  pair_writes();
  for (Node node = 0; node < operation_->nodes(); ++node)
    if (operation_->step(node).open && !operation_->cancelled(node)) require_filled(node);
}

/// All of what is open is written: by others, or by its owner after the publish.
void Exposures::require_filled(Node publish) const {
  const Slice& opened = operation_->step(publish).source;
  std::vector<std::pair<Count, Count>> written;
  for (const Access& access : accesses_)
    if (access.publish == publish && access.writes) written.emplace_back(access.begin, access.end);
  std::ranges::sort(written);
  Count end = opened.offset;
  for (const auto& [from, to] : written)
    if (from <= end) end = std::max(end, to);
  if (end < opened.offset + opened.count)
    operation_->refuse(publish, "nobody writes its element " + std::to_string(end - opened.offset));
}

void Exposures::collect_theirs() {
  for (Node node = 0; node < operation_->nodes(); ++node) {
    if (operation_->cancelled(node)) continue;
    const Step& step = operation_->step(node);
    for (const Slice* slice : {&step.source, &step.target}) {
      if (slice->buffer != Buffer::exposed || slice->count == 0) continue;
      const Node publish = operation_->publisher(slice->owner, slice->cell);
      const Slice& exposed = operation_->step(publish).source;
      const Count begin = exposed.offset + slice->offset;
      accesses_.push_back(
          {node, publish, slice->owner, exposed.buffer, begin, begin + slice->count, slice == &step.target});
    }
  }
  std::ranges::stable_sort(accesses_, {}, &Access::publish);
}

/// What the owner does to memory that it exposes, and that does not come before the publish: its writes, and where
/// others write also its reads.
void Exposures::collect_own(Node publish, const Races& races) {
  const Slice& exposed = operation_->step(publish).source;
  const bool open = operation_->step(publish).open;
  const Rank owner = operation_->rank_of(publish);
  const Plan& plan = operation_->plan(owner);
  for (Index index = 0; index < plan.steps.size(); ++index) {
    const Step& step = plan.steps[index];
    for (const Slice* slice : {&step.source, &step.target}) {
      const bool writes = slice == &step.target;
      if ((!writes && (!open || step.verb == Verb::publish)) || slice->buffer != exposed.buffer || slice->count == 0 ||
          slice->offset >= exposed.offset + exposed.count || exposed.offset >= slice->offset + slice->count)
        continue;
      if (!races.reach(owner).before(index, operation_->index_of(publish)))
        accesses_.push_back({operation_->first_node(owner) + index, publish, owner, slice->buffer, slice->offset,
                             slice->offset + slice->count, writes});
    }
  }
}

void Exposures::pair_theirs_with_own() {
  const auto theirs = std::span(accesses_).first(theirs_);
  for (std::size_t own = theirs_; own < accesses_.size(); ++own) {
    auto one = std::ranges::lower_bound(theirs, accesses_[own].publish, {}, &Access::publish);
    for (; one != theirs.end() && one->publish == accesses_[own].publish; ++one)
      if (one->begin < accesses_[own].end && accesses_[own].begin < one->end)
        pairs_.push_back({static_cast<std::size_t>(one - theirs.begin()), own, false});
  }
}

/// Others' accesses to the same elements, whichever publish showed them, where one of the two writes.
void Exposures::pair_writes() {
  std::vector<std::size_t> by_place(theirs_);
  for (std::size_t i = 0; i < theirs_; ++i) by_place[i] = i;
  if (std::ranges::none_of(by_place, [this](std::size_t i) { return accesses_[i].writes; })) return;
  const auto place = [this](std::size_t i) {
    return std::tuple(accesses_[i].owner, accesses_[i].buffer, accesses_[i].begin);
  };
  std::ranges::stable_sort(by_place, {}, place);
  for (std::size_t i = 0; i < theirs_; ++i)
    for (std::size_t j = i + 1; j < theirs_; ++j) {
      const Access &a = accesses_[by_place[i]], &b = accesses_[by_place[j]];
      if (a.owner != b.owner || a.buffer != b.buffer || b.begin >= a.end) break;
      if (a.writes || b.writes) pairs_.push_back({by_place[i], by_place[j], false});
    }
}

void Exposures::look(const Causality& causality, std::size_t begin, std::size_t end) {
  const auto watches = [=](std::size_t index) { return index >= begin && index < end; };
  const auto comes_before = [&](std::size_t first, std::size_t second) {
    return watches(first) && causality.has(accesses_[second].node, first - begin);
  };
  for (Pair& pair : pairs_)
    if (comes_before(pair.theirs, pair.other) || comes_before(pair.other, pair.theirs)) pair.ordered = true;
  for (std::size_t i = begin; i < std::min(end, theirs_); ++i) {
    // The completion of the owner comes after all its steps.
    const Node completion = operation_->nodes() + static_cast<Node>(accesses_[i].owner);
    if (causality.has(completion, i - begin)) accesses_[i].seen_by_owner = true;
  }
}

}  // namespace tutti::plan
