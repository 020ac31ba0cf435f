// SPDX-License-Identifier: BSD-3-Clause
// What a slow wait tells `tutti why`. Nothing here runs before a wait has lasted for some tenths of a millisecond.
#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/mailbox.hpp"
#include "host/waits.hpp"

namespace tutti::engine {

using host::Wait;
using plan::Index;
using plan::Verb;

namespace {

/// The language that is asked may be busy with another thread: seldom enough not to hold the engine up.
constexpr std::uint64_t between_questions = 50'000'000;

/// By which it is known again.
auto key_of(const Wait& wait) { return WaitKey{wait.context, wait.sequence, wait.site, wait.tag, wait.what}; }

}  // namespace

std::string_view& calling_place() {
  static thread_local std::string_view place;
  return place;
}

Interruption& interruption() {
  static thread_local Interruption asks = nullptr;
  return asks;
}

void Operation::unseen(Index index, std::vector<Rank>& ranks) const {
  const Instruction& step = bound_->instructions[index];
  if (step.verb != Verb::await || step.peer != plan::everyone) return blockers(index, ranks);
  for (Rank owner = 0; owner < channel_.board_.size(); ++owner)
    if (is_missing(step, owner)) ranks.push_back(channel_.near_[static_cast<std::size_t>(owner)]);
}

Wait Operation::tell() const {
  Wait told;
  told.context = channel_.who_.context;
  std::vector<Rank> ranks;
  blocked_on(ranks, &Operation::unseen);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const Rank rank : ranks) told.add(channel_.who_.world[static_cast<std::size_t>(rank)]);
  if (user_lane()) {
    const Instruction& step = bound_->only_message();
    told.what = step.verb == Verb::send ? host::Waited::send : host::Waited::recv;
    told.tag = user_tag_;
    told.count = static_cast<std::int64_t>(step.bytes);
    told.site = reinterpret_cast<std::uint64_t>(site_);
    return told;
  }
  told.sequence = sequence_;
  told.call = bound_->call_word;
  told.count = bound_->description.count;
  told.site = reinterpret_cast<std::uint64_t>(site_);
  return told;
}

void Channel::tell(std::vector<Wait>& waits, const SlowOperations& slow) {
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return;
  for (const Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    if (operation->finished()) continue;
    waits.push_back(operation->tell());
    const auto known = slow.find(operation);
    if (known == slow.end()) continue;
    waits.back().awaited = known->second.awaited > 0 ? 1 : 0;
    waits.back().set_place(known->second.place);
  }
}

Engine::SlowWait::~SlowWait() {
  // Relaxed: what an earlier wait of this thread told, which then ran out of time, is to be taken back too.
  if (noted_ || engine_.told_.load(std::memory_order_relaxed)) engine_.end(*this);
}

void Engine::SlowWait::tick() {
  if (!noted_) engine_.note(*this);
  engine_.tick();
  if (engine_.setup_.recorder != nullptr) engine_.setup_.recorder->read_again();
  if (interruption() != nullptr) look_for_interruption();
}

/// What is waited for is given up with its request, as after a time-out.
void Engine::SlowWait::look_for_interruption() {
  const std::uint64_t now = engine_.waiting_.now();
  if (asked_ == 0) asked_ = now;
  if (now - asked_ < between_questions) return;
  asked_ = now;
  if (!interruption()()) return;
  for (Operation* operation : operations_)
    if (operation != nullptr) operation->remember_timeout();
  throw Error(Cause::interrupted,
              "a signal has ended the wait for the other ranks. A collective that was under way is given up, which "
              "breaks its group; agree and shrink go on when they are called again.");
}

void Engine::note(SlowWait& wait) {
  const std::lock_guard lock(slow_lock_);
  for (const Operation* operation : wait.operations_)
    if (operation != nullptr) {
      Slowness& one = slow_[operation];
      ++one.awaited;
      if (!calling_place().empty()) one.place = calling_place();
    }
  wait.noted_ = true;
}

void Engine::end(const SlowWait& wait) {
  const std::lock_guard lock(slow_lock_);
  if (wait.noted_)
    for (const Operation* operation : wait.operations_)
      if (operation != nullptr) --slow_[operation].awaited;
  // What is still pending was waited for in vain: it stays told, until it is done or the report has become old.
  std::unordered_set<const Operation*> pending;
  for (const Operation* operation : wait.operations_)
    if (operation != nullptr && !operation->finished()) pending.insert(operation);
  std::erase_if(slow_, [&](const auto& one) { return one.second.awaited == 0 && !pending.contains(one.first); });
  if (!slow_.empty()) return;
  segment().process(place()).waits.clear();
  told_.store(false, std::memory_order_relaxed);  // relaxed: a hint for SlowWait
  since_.clear();
}

void Engine::say_place(const Operation& operation, std::string_view place) {
  const std::lock_guard lock(slow_lock_);
  slow_[&operation].place = place;
  told_.store(true, std::memory_order_relaxed);  // relaxed: as above; the next end of a wait cleans up
}

void Engine::tell() {
  const std::lock_guard lock(slow_lock_);
  std::vector<Wait> waits;
  for (Channel* channel : channels_) channel->tell(waits, slow_);
  agreements_.tell(waits);
  std::ranges::stable_partition(waits, [](const Wait& wait) { return wait.awaited != 0; });
  const std::uint64_t now = waiting_.now();
  const bool waiting = std::ranges::any_of(slow_, [](const auto& one) { return one.second.awaited > 0; }) ||
                       (!waits.empty() && waits.front().awaited != 0);
  std::map<WaitKey, std::uint64_t> since;
  for (Wait& wait : waits) {
    const auto before = since_.find(key_of(wait));
    wait.since = before != since_.end() ? before->second : now;
    since.emplace(key_of(wait), wait.since);
  }
  segment().process(place()).waits.tell(waits, now, waiting);
  since_ = std::move(since);
  told_.store(true, std::memory_order_relaxed);  // relaxed: as above
}

}  // namespace tutti::engine
