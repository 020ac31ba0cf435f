// SPDX-License-Identifier: BSD-3-Clause
#include "plan/staging.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "plan/operation.hpp"

namespace tutti::plan {
namespace {

constexpr Index none = std::numeric_limits<Index>::max();

/// A range of a laid-out buffer that lives in scratch while the plan runs: all slices that overlap, together.
struct Range {
  Buffer buffer;
  Count begin, end;
  bool staged = false;  // some message or reader needs it side by side
  bool read = false;    // its first contents matter
  Count scratch = 0;

  bool covers(const Slice& slice) const {
    return slice.buffer == buffer && slice.offset >= begin && slice.offset + slice.count <= end;
  }
  Slice at_home(Count from, Count to) const { return {buffer, -1, -1, from, to - from}; }
  Slice in_scratch(Count from, Count to) const { return {Buffer::scratch, -1, -1, scratch + from - begin, to - from}; }
};

bool sends(const Step& step) { return step.verb == Verb::send || (step.verb == Verb::publish && !step.open); }

/// Somebody else's bytes come to it.
bool arrives(const Step& step) { return receives(step.verb) || step.open; }

/// What a step writes: its target, or what it opens to others.
const Slice& written(const Step& step) { return step.open ? step.source : step.target; }

class Stager {
 public:
  Stager(const Plan& plan, const Staging& staging) : from_(plan), staging_(staging), after_(plan.steps.size()) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const auto after = plan.after(plan.steps[i]);
      after_[i].assign(after.begin(), after.end());
    }
  }

  Plan run() {
    find_ranges();
    if (ranges_.empty()) return from_;
    to_.rank = from_.rank;
    to_.size = from_.size;
    to_.ring = from_.ring;
    to_.cells = from_.cells;
    to_.scratch = from_.scratch;
    for (Range& range : ranges_) {
      range.scratch = to_.scratch;
      to_.scratch += range.end - range.begin;
    }
    place_.assign(from_.steps.size(), none);
    copies_in_.assign(from_.steps.size(), {});
    find_copies_in();
    for (std::size_t i = 0; i < from_.steps.size(); ++i) add_step(static_cast<Index>(i));
    const std::vector<Writes> all = find_writes();
    for (std::size_t i = 0; i < ranges_.size(); ++i) copy_out(ranges_[i], all[i]);
    return std::move(to_);
  }

 private:
  using Writes = std::vector<std::pair<Slice, Index>>;

  bool laid_out(const Slice& slice) const {
    return slice.count > 0 &&
           ((staging_.input && slice.buffer == Buffer::input) || (staging_.output && slice.buffer == Buffer::output));
  }

  /// Slices that overlap make one range; ranges that only copies and reductions touch are left alone.
  void find_ranges() {
    for (const Step& step : from_.steps) {
      if (!step.open) add_range(step.source, sends(step), true);
      add_range(written(step), arrives(step), reduces(step.verb));
    }
    std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
      return std::pair(a.buffer, a.begin) < std::pair(b.buffer, b.begin);
    });
    std::vector<Range> joined;
    for (const Range& range : ranges_) {
      if (joined.empty() || joined.back().buffer != range.buffer || joined.back().end <= range.begin) {
        joined.push_back(range);
        continue;
      }
      Range& last = joined.back();
      last.end = std::max(last.end, range.end);
      last.staged = last.staged || range.staged;
      last.read = last.read || range.read;
    }
    std::erase_if(joined, [](const Range& range) { return !range.staged; });
    ranges_ = std::move(joined);
  }

  void add_range(const Slice& slice, bool staged, bool read) {
    if (laid_out(slice)) ranges_.push_back({slice.buffer, slice.offset, slice.offset + slice.count, staged, read});
  }

  const Range* range_of(const Slice& slice) const {
    if (!laid_out(slice)) return nullptr;
    auto found = std::ranges::upper_bound(ranges_, std::pair(slice.buffer, slice.offset), {},
                                          [](const Range& range) { return std::pair(range.buffer, range.begin); });
    return found != ranges_.begin() && (--found)->covers(slice) ? &*found : nullptr;
  }

  /// What must be in scratch before a step runs. A step that starts after any of some is held back through those.
  void find_copies_in() {
    for (Index i = 0; i < from_.steps.size(); ++i)
      for (const Slice& slice : {from_.steps[i].source, from_.steps[i].target})
        if (const Range* range = range_of(slice); range != nullptr && range->read)
          hold_back(i, static_cast<std::size_t>(range - ranges_.data()));
  }

  void hold_back(Index step, std::size_t range) {
    if (from_.steps[step].any)
      for (const Index before : after_[step]) hold_back(before, range);
    else if (std::ranges::find(copies_in_[step], range) == copies_in_[step].end())
      copies_in_[step].push_back(range);
  }

  Index add(Step step, const std::vector<Index>& after) {
    step.first = static_cast<Index>(to_.edges.size());
    to_.edges.insert(to_.edges.end(), after.begin(), after.end());
    step.last = static_cast<Index>(to_.edges.size());
    to_.steps.push_back(step);
    return static_cast<Index>(to_.steps.size() - 1);
  }

  Index add_copy(const Slice& source, const Slice& target, const std::vector<Index>& after) {
    Step copy;
    copy.source = source;
    copy.target = target;
    return add(copy, after);
  }

  /// The copies that bring what a range holds at first into scratch, made when they are first needed.
  const std::vector<Index>& copies_in(std::size_t index) {
    if (made_.empty()) made_.resize(ranges_.size());
    auto& [done, copies] = made_[index];
    if (std::exchange(done, true)) return copies;
    const Range& range = ranges_[index];
    const auto copy = [&](Count from, Count to) {
      from = std::max(from, range.begin);
      to = std::min(to, range.end);
      if (from < to) copies.push_back(add_copy(range.at_home(from, to), range.in_scratch(from, to), {}));
    };
    if (range.buffer == Buffer::input) {
      copy(range.begin, range.end);
    } else {
      for (const Slice& slice : staging_.before) copy(slice.offset, slice.offset + slice.count);
    }
    return copies;
  }

  void add_step(Index index) {
    Step step = from_.steps[index];
    std::vector<Index> after;
    for (const Index before : after_[index]) after.push_back(place_[before]);
    for (const std::size_t range : copies_in_[index])
      for (const Index copy : copies_in(range)) after.push_back(copy);
    const auto move = [this](Slice& slice) {
      if (const Range* range = range_of(slice)) slice = range->in_scratch(slice.offset, slice.offset + slice.count);
    };
    move(step.source);
    move(step.target);
    place_[index] = add(step, after);
  }

  /// What is written in each range, and by which step it is done.
  std::vector<Writes> find_writes() const {
    const std::vector<Index> ends = find_ends();
    std::vector<Index> words;  // from other ranks
    for (Index i = 0; i < from_.steps.size(); ++i)
      if (receives(from_.steps[i].verb) || from_.steps[i].verb == Verb::await) words.push_back(ends[i]);
    std::vector<Writes> all(ranges_.size());
    for (Index i = 0; i < from_.steps.size(); ++i) {
      const Slice& target = written(from_.steps[i]);
      const Range* const range = range_of(target);
      if (range == nullptr) continue;
      Writes& writes = all[static_cast<std::size_t>(range - ranges_.data())];
      writes.emplace_back(target, ends[i]);
      if (!from_.steps[i].open) continue;
      // Others have written what it opens when they say so, which may be any word of theirs.
      for (const Index word : words) writes.emplace_back(target, word);
    }
    return all;
  }

  /// What the plan wrote in a range goes home, each part when all its writers are done.
  void copy_out(const Range& range, Writes writes) {
    std::ranges::sort(writes, {}, [](const auto& write) { return write.first.offset; });
    for (std::size_t i = 0; i < writes.size();) {
      const Count begin = writes[i].first.offset;
      Count end = begin;
      std::vector<Index> after;
      for (; i < writes.size() && (writes[i].first.offset < end || end == begin); ++i) {
        end = std::max(end, writes[i].first.offset + writes[i].first.count);
        after.push_back(place_[writes[i].second]);
      }
      std::ranges::sort(after);
      after.erase(std::ranges::unique(after).begin(), after.end());
      add_copy(range.in_scratch(begin, end), range.at_home(begin, end), after);
    }
  }

  /// For each step the one that tells that it is done: one of several alternatives may be cancelled instead.
  std::vector<Index> find_ends() const {
    std::vector<Index> ends(from_.steps.size());
    std::iota(ends.begin(), ends.end(), Index{0});
    for (Index i = 0; i < from_.steps.size(); ++i)
      for (const Index before : after_[i])
        if (from_.steps[i].any && ends[before] == before) ends[before] = i;
    return ends;
  }

  const Plan& from_;
  const Staging& staging_;
  Plan to_;
  std::vector<std::vector<Index>> after_;
  std::vector<Range> ranges_;
  std::vector<Index> place_;                               // of each old step among the new
  std::vector<std::vector<std::size_t>> copies_in_;        // ranges that each old step needs
  std::vector<std::pair<bool, std::vector<Index>>> made_;  // per range
};

}  // namespace

Plan staged(const Plan& plan, const Staging& staging) { return Stager(plan, staging).run(); }

Count reach(const Plan& plan, Buffer buffer) {
  Count end = 0;
  for (const Step& step : plan.steps)
    for (const Slice& slice : {step.source, step.target})
      if (slice.buffer == buffer) end = std::max(end, slice.offset + slice.count);
  return end;
}

bool writes(const Plan& plan, Buffer buffer) {
  return std::ranges::any_of(
      plan.steps, [buffer](const Step& step) { return written(step).buffer == buffer && written(step).count > 0; });
}

}  // namespace tutti::plan
