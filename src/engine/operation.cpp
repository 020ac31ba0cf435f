// SPDX-License-Identifier: BSD-3-Clause
// The executor: which steps run when. What each verb does stands in verbs.cpp.
#include "engine/operation.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "base/names.hpp"
#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/mailbox.hpp"

namespace tutti::engine {

using plan::Index;
using plan::Verb;

namespace {

/// A step that was cancelled never becomes ready.
constexpr std::uint32_t cancelled = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Operation::~Operation() = default;

void Operation::begin_exact(Count own) {
  const Exact::Ends users{base(plan::Buffer::input), base(plan::Buffer::output)};
  const Exact::Ends ends = bound_->exact->begin(users, own, scratch_.data());
  exact_output_ = users.output;
  base(plan::Buffer::input) = ends.input;
  base(plan::Buffer::output) = ends.output;
}

void Operation::make_room_for_scratch() {
  try {
    if (scratch_.capacity() < bound_->scratch_bytes) scratch_ = {};  // nothing of it is to be kept, and copied
    scratch_.resize(bound_->scratch_bytes);
  } catch (const std::bad_alloc&) {
    const Description& says = bound_->description;
    throw Error(Cause::system, base::name(says.kind, says.label) + " on group " + channel_.who_.name + ", rank " +
                                   std::to_string(channel_.rank()) + ": no memory for the " +
                                   std::to_string(bound_->scratch_bytes) +
                                   " bytes that it works in; free some, or pass fewer elements at a time" +
                                   (says.kind == Kind::plan ? ", or build the plan with less scratch" : "") +
                                   ". Nothing was sent, and the group is as before");
  }
}

void Operation::open(std::shared_ptr<Mailbox> mailbox) {
  mailbox_ = std::move(mailbox);
  mailbox_->open(channel_, sequence_, chain_);
}

void Operation::reset_otherwise(Count own, const Reduction& reduction) {
  reduction_ = reduction;
  if (bound_->exact) begin_exact(own);
  if (bound_->in_order) return;
  const std::size_t steps = bound_->instructions.size();
  steps_left_ = steps;
  missing_.assign(bound_->missing.begin(), bound_->missing.end());
  ready_.assign(bound_->starts.begin(), bound_->starts.end());
  blocked_.clear();
  progress_.assign(steps, 0);
  transfers_.assign(static_cast<std::size_t>(bound_->transfers), {});
  posted_ahead_ = false;
}

bool Operation::advance() {
  try {
    const bool stepped = plain_ ? advance_in_order() : advance_otherwise();
    return std::exchange(worked_, false) || stepped;
  } catch (const Unreadable& error) {
    channel_.broken_off(*this, error.what(), Cause::system);
  } catch (const std::bad_alloc&) {
    channel_.broken_off(*this, "this process has no memory left", Cause::system);
  } catch (const std::exception& error) {
    channel_.broken_off(*this, error.what(), Cause::broken);
  } catch (...) {
    channel_.broken_off(*this, "the reduction function threw something that is no std::exception", Cause::broken);
  }
  return true;
}

bool Operation::advance_otherwise() {
  bool moved = false;
  if (mailbox_) {  // a rank receives until the barrier is over, which it enters when all that it sends has come
    const std::shared_ptr<Mailbox> mailbox = mailbox_;  // the operation gives it up when it fails
    moved = mailbox->serve(*this);
    if (finished() || !mailbox->delivered()) return moved;
  }
  if (!bound_->in_order) return advance_steps() || moved;
  const Index before = at_;
  if ((noted_ != nullptr ? run_in_order_noted() : run_in_order()) && read_by_all()) end();
  return moved || at_ != before || finished();
}

/// It takes no further step: it has finished, or will fail when nobody is at its memory.
bool Operation::stopped() const { return finished() || channel_.broken_ != nullptr; }

bool Operation::advance_steps() {
  const bool any = bound_->any;  // the plan may be gone when it has finished
  if (steps_left_ == 0 && read_by_all()) end();
  if (!std::exchange(posted_ahead_, true)) post_ahead();
  bool moved = run_ready();
  for (std::size_t i = 0; i < blocked_.size() && !stopped();) {
    const Index index = blocked_[i];
    if (!(noted_ != nullptr ? poll_noted(index) : poll(index))) {
      ++i;
      continue;
    }
    moved = true;
    blocked_.erase(blocked_.begin() + static_cast<std::ptrdiff_t>(i));
    complete(index);
    run_ready();
    if (any) i = 0;  // others may have been cancelled and taken out
  }
  return moved || finished();
}

bool Operation::run_ready() {
  bool moved = false;
  while (!ready_.empty() && !stopped()) {
    const Index index = ready_.back();
    ready_.pop_back();
    moved = true;
    if (noted_ != nullptr ? poll_noted(index) : run(bound_->instructions[index])) {
      complete(index);
    } else if (!finished()) {
      blocked_.push_back(index);
    }
  }
  return moved;
}

void Operation::complete(Index index) {
  count_down(index);
  if (--steps_left_ == 0 && read_by_all()) end();
}

void Operation::count_down(Index index) {
  // Backwards, because `ready_` is a stack: the first successor runs first.
  for (Index at = bound_->first_successor[index + 1]; at-- > bound_->first_successor[index];) {
    const Index successor = bound_->successors[at];
    if (missing_[successor] == 0 || missing_[successor] == cancelled) continue;
    if (--missing_[successor] > 0) continue;
    ready_.push_back(successor);
    if (bound_->instructions[successor].any) cancel_others(index, successor);
  }
}

void Operation::cancel_others(Index chosen, Index successor) {
  for (const Index other : bound_->plan.after(bound_->plan.steps[successor])) {
    if (other == chosen || missing_[other] == cancelled) continue;
    const auto at = std::find(blocked_.begin(), blocked_.end(), other);
    const auto waiting = std::find(ready_.begin(), ready_.end(), other);
    if (at != blocked_.end()) {
      blocked_.erase(at);
    } else if (waiting != ready_.end()) {
      ready_.erase(waiting);
    } else if (missing_[other] == 0) {
      continue;  // complete already
    }
    missing_[other] = cancelled;
    --steps_left_;
    cancel(bound_->instructions[other]);
    count_down(other);  // its end is that of the chosen one
  }
}

void Operation::end() {
  if (mailbox_) {  // an answer that its receiver has may not be known to be sent yet
    mailbox_->withdraw();
    mailbox_.reset();
  }
  if (bound_->exact) bound_->exact->end(scratch_.data(), exact_output_);
  if (noted_ != nullptr) note_end(trace::Outcome::done);
  finish(Phase::done);
}

void Operation::finish(Phase phase) {
  released_ = cells_end_;
  if (bound_->others_lend && channel_.first_ != this) say_ahead();
  // Whoever sees the end may give the plan away.
  const bool sends = bound_->messages && channel_.spans_hosts();
  // Release: pairs with the acquire in finished(), so that whoever sees the end sees the results.
  phase_.store(phase, std::memory_order_release);
  if (event_) signal_event();
  if (sends) channel_.engine_.courier().see_off();
}

void Operation::signal_event() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void Operation::withdraw() {
  if (finished()) return;
  if (mailbox_) mailbox_->withdraw();
  for (transport::Transfer& transfer : transfers_)
    if (transfer.peer >= 0) take_back(transfer);
}

void Operation::fail(std::shared_ptr<const Error> error) {
  if (finished()) return;
  error_ = std::move(error);
  if (mailbox_) mailbox_->fail(error_);
  mailbox_.reset();
  lent_until_ = 0;
  if (noted_ != nullptr) note_end(trace::Outcome::failed);
  finish(Phase::failed);
}

const Instruction* Operation::first_blocked() const {
  const bool blocked = bound_->in_order ? !at_end() : !blocked_.empty() && ready_.empty();
  return blocked ? &bound_->instructions[bound_->in_order ? at_ : blocked_.front()] : nullptr;
}

Rank Operation::awaited() const {
  const Instruction* const step = first_blocked();
  if (mailbox_ || step == nullptr || step->verb != Verb::await || (!bound_->in_order && blocked_.size() > 1)) return -1;
  return channel_.place_of(channel_.near_[static_cast<std::size_t>(next_owner(*step))]);
}

void Operation::blockers(std::vector<Rank>& ranks) const {
  ranks.clear();
  blocked_on(ranks, &Operation::blockers);
}

void Operation::blocked_on(std::vector<Rank>& ranks, ByStep by_step) const {
  if (mailbox_ && !mailbox_->delivered())
    mailbox_->blockers(ranks);
  else if (!bound_->in_order)
    for (const Index index : blocked_) (this->*by_step)(index, ranks);
  else if (!at_end())
    (this->*by_step)(at_, ranks);
  readers(ranks);
}

void Operation::blockers(Index index, std::vector<Rank>& ranks) const {
  const Instruction& step = bound_->instructions[index];
  const Place written = written_cell(step);
  if (step.verb == Verb::await)
    ranks.push_back(channel_.near_[static_cast<std::size_t>(next_owner(step))]);
  else if (step.transfer >= 0)
    ranks.push_back(step.peer);
  else if (written.cell >= 0)
    channel_.readers_behind(in_the_way(cell_sequence(written.cell), written.area), ranks);
}

Place Operation::written_cell(const Instruction& step) {
  const Place& place = step.verb == Verb::publish ? step.source : step.target;
  const bool shared = place.buffer == plan::Buffer::shared;
  return {.cell = step.verb == Verb::publish ? step.cell : shared ? place.cell : -1, .area = place.area};
}

void Operation::release() {
  // Taken out first: left inside, an operation that the channel drops later would keep its own channel for ever.
  const std::shared_ptr<Channel> keep = std::move(keep_);
  // Acquire-release: the last one sees what the others did to the operation.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  const std::lock_guard guard(channel_.lock_);
  channel_.recycle(this);
}

}  // namespace tutti::engine
