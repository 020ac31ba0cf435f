// SPDX-License-Identifier: BSD-3-Clause
#include "plan/exposures.hpp"

#include <algorithm>

namespace tutti::plan {

void Exposures::check(const Operation& operation, const Order& order, const Races& races) {
  operation_ = &operation;
  collect(races);
  if (reads_.empty()) return;
  // Reads and late writes are watched in batches, so that memory stays bounded.
  const std::size_t watched = reads_.size() + writes_.size();
  for (std::size_t begin = 0; begin < watched; begin += batch) {
    const std::size_t end = std::min(watched, begin + batch);
    spread(order, begin, end);
    look(begin, end);
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

/// Hands on, in order, which of the watched steps [begin, end) come before each event.
void Exposures::spread(const Order& order, std::size_t begin, std::size_t end) {
  constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
  words_ = (end - begin + 63) / 64;
  bits_.assign(order.count() * words_, 0);
  first_watched_.assign(order.count(), none);
  next_watched_.assign(end - begin, none);
  for (std::size_t i = begin; i < end; ++i) {
    const Node event = operation_->event(watched(i));
    next_watched_[i - begin] = first_watched_[event];
    first_watched_[event] = static_cast<std::uint32_t>(i - begin);
  }
  for (const Node event : order.events()) {
    std::uint64_t* const to = bits_.data() + event * words_;
    order.for_each_before(event, [&](Node before) {
      const std::uint64_t* const from = bits_.data() + before * words_;
      for (std::size_t word = 0; word < words_; ++word) to[word] |= from[word];
    });
    for (std::uint32_t i = first_watched_[event]; i != none; i = next_watched_[i])
      to[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

void Exposures::look(std::size_t begin, std::size_t end) {
  const auto watches = [=](std::size_t index) { return index >= begin && index < end; };
  for (Pair& pair : pairs_) {
    const std::size_t write = reads_.size() + pair.write;
    if (watches(pair.read) && has(operation_->event(watched(write)), pair.read - begin)) pair.ordered = true;
    if (watches(write) && has(operation_->event(watched(pair.read)), write - begin)) pair.ordered = true;
  }
  for (std::size_t i = begin; i < std::min(end, reads_.size()); ++i) {
    // The completion of the owner comes after all its steps.
    const Rank owner = operation_->rank_of(reads_[i].publish);
    if (has(operation_->nodes() + static_cast<Node>(owner), i - begin)) reads_[i].seen_by_owner = true;
  }
}

}  // namespace tutti::plan
