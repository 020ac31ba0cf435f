// SPDX-License-Identifier: BSD-3-Clause
#include "plan/exposures.hpp"

#include <algorithm>

namespace tutti::plan {

void Exposures::check(const Operation& operation, const Order& order, const Races& races, Causality& causality) {
  operation_ = &operation;
  collect(races);
  if (reads_.empty()) return;
  // Reads and late writes are watched in batches, so that memory stays bounded.
  const std::size_t all = reads_.size() + writes_.size();
  for (std::size_t begin = 0; begin < all; begin += batch) {
    const std::size_t end = std::min(all, begin + batch);
    causality.begin(order, end - begin);
    for (std::size_t i = begin; i < end; ++i) causality.mark(watched(i), i - begin);
    causality.spread(operation, order);
    look(causality, begin, end);
  }
  for (const Pair& pair : pairs_)
    if (!pair.ordered)
      operation.refuse(writes_[pair.write].node, "it writes memory that " +
                                                     operation.name(writes_[pair.write].publish) + " exposes, while " +
                                                     operation.name(reads_[pair.read].node) + " may read it");
  for (const Read& read : reads_)
    if (!read.seen_by_owner)
      operation.refuse(read.node, "it reads memory that " + operation.name(read.publish) +
                                      " exposes, but no step of that rank comes after the read: it may be complete, "
                                      "and its memory the user's again, too early");
}

void Exposures::collect(const Races& races) {
  reads_.clear();
  writes_.clear();
  pairs_.clear();
  if (operation_->cells() == 0) return;
  Node last = nothing;
  for (Node node = 0; node < operation_->nodes(); ++node) {
    const Slice& source = operation_->step(node).source;
    if (source.buffer != Buffer::exposed || source.count == 0 || operation_->cancelled(node)) continue;
    const Node publish = operation_->publisher(source.owner, source.cell);
    const Count begin = operation_->step(publish).source.offset + source.offset;
    reads_.push_back({node, publish, begin, begin + source.count, false});
  }
  std::ranges::stable_sort(reads_, {}, &Read::publish);
  for (const Read& read : reads_) {
    if (read.publish != last) collect_writes(read.publish, races);
    last = read.publish;
  }
  for (std::size_t write = 0; write < writes_.size(); ++write) {
    auto read = std::ranges::lower_bound(reads_, writes_[write].publish, {}, &Read::publish);
    for (; read != reads_.end() && read->publish == writes_[write].publish; ++read)
      if (read->begin < writes_[write].end && writes_[write].begin < read->end)
        pairs_.push_back({static_cast<std::size_t>(read - reads_.begin()), write, false});
  }
}

/// The owner's writes to what it exposes that do not come before the publish.
void Exposures::collect_writes(Node publish, const Races& races) {
  const Slice& exposed = operation_->step(publish).source;
  const Rank owner = operation_->rank_of(publish);
  const Plan& plan = operation_->plan(owner);
  for (Index index = 0; index < plan.steps.size(); ++index) {
    const Slice& target = plan.steps[index].target;
    if (target.buffer != exposed.buffer || target.count == 0 || target.offset >= exposed.offset + exposed.count ||
        exposed.offset >= target.offset + target.count)
      continue;
    if (!races.reach(owner).before(index, operation_->index_of(publish)))
      writes_.push_back({operation_->first_node(owner) + index, publish, target.offset, target.offset + target.count});
  }
}

void Exposures::look(const Causality& causality, std::size_t begin, std::size_t end) {
  const auto watches = [=](std::size_t index) { return index >= begin && index < end; };
  for (Pair& pair : pairs_) {
    const std::size_t write = reads_.size() + pair.write;
    if (watches(pair.read) && causality.has(watched(write), pair.read - begin)) pair.ordered = true;
    if (watches(write) && causality.has(watched(pair.read), write - begin)) pair.ordered = true;
  }
  for (std::size_t i = begin; i < std::min(end, reads_.size()); ++i) {
    // The completion of the owner comes after all its steps.
    const Rank owner = operation_->rank_of(reads_[i].publish);
    if (causality.has(operation_->nodes() + static_cast<Node>(owner), i - begin)) reads_[i].seen_by_owner = true;
  }
}

}  // namespace tutti::plan
