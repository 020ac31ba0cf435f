// SPDX-License-Identifier: BSD-3-Clause
// Starting operations on a group and moving them on. What happens when something fails stands in failure.cpp.
#include "engine/channel.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/engine.hpp"
#include "host/futex.hpp"

namespace tutti::engine {

using plan::Ring;

namespace {

/// Polls of the first spin, before sleepers are rung and the wait proper begins.
constexpr int brief = 100;

constexpr std::uint64_t ring_length(Ring ring) {
  return static_cast<std::uint64_t>(ring == Ring::small ? host::small_cells : host::large_cells);
}

std::size_t slot(Ring ring) { return static_cast<std::size_t>(ring); }

}  // namespace

Channel::Channel(Engine& engine, Membership membership) : engine_(engine), who_(std::move(membership)) {
  if (who_.board != 0) {
    std::byte* memory = engine.segment().at(who_.board, host::Board::bytes(size()));
    board_ = host::Board(memory, size(), rank(), who_.context);
  }
  mask_.assign(static_cast<std::size_t>(engine.segment().size() - 1) / 64 + 1, 0);
  for (const Rank world : who_.world) mask_[static_cast<std::size_t>(world) / 64] |= std::uint64_t{1} << (world % 64);
}

Channel::~Channel() {
  engine_.remove(*this);
  if (!board_ || broken_) return;  // a broken board stays: a member that is gone never gives it back
  // Acquire-release: the last user sees everybody else's last use before it frees the memory.
  if (board_.header().users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    engine_.segment().free(who_.board, host::Board::bytes(size()));
}

Operation* Channel::begin(Start& start) {
  check_usable();
  if (idle_.empty()) {
    operations_.push_back(std::make_unique<Operation>(*this));
    idle_.push_back(operations_.back().get());
  }
  Operation* operation = idle_.back();
  idle_.pop_back();
  const bool collective = start.lane == transport::Lane::collective;
  const std::uint64_t sequence = collective ? next_sequence_++ : 0;
  const Bound& bound = *start.bound;
  std::uint64_t& next = next_cell_[slot(bound.plan.ring)];
  const std::uint64_t base = next;
  next += static_cast<std::uint64_t>(bound.plan.cells + bound.reserved);
  operation->prepare(std::move(start.bound), start.buffers, start.reduction, sequence, base, start.lane,
                     start.user_tag);
  operation->continue_with(std::move(start.continuation));
  // Relaxed: the channel's list is the first reference, the caller's request the second.
  operation->references_.store(2, std::memory_order_relaxed);
  operation->previous_ = last_;
  operation->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = operation;
  last_ = operation;
  if (collective) write_record(*operation, start.site);
  operation->advance();
  return operation;
}

Operation* Channel::start(Start start) {
  lock_to_start();
  Operation* operation = nullptr;
  try {
    operation = begin(start);
    operation->keep_ = shared_from_this();
    settle();
  } catch (...) {
    lock_.unlock();
    throw;
  }
  if (!operation->finished()) engine_.add(*this);
  lock_.unlock();
  if (engine_.has_progress_thread()) engine_.waiting().ring(engine_.setup().world_rank);
  return operation;
}

Operation* Channel::run(Start start) {
  lock_to_start();
  Operation* operation = nullptr;
  try {
    operation = begin(start);
    const int spins = engine_.waiting().spins_now() > 0 ? brief : 0;
    for (int i = 0; i < spins && !operation->finished(); ++i) advance_operations();
    settle();
  } catch (...) {
    lock_.unlock();
    throw;
  }
  if (operation->phase_.load(std::memory_order_relaxed) == Phase::done) {  // relaxed: this thread finished it
    if (operation->references_.fetch_sub(1, std::memory_order_relaxed) == 1) recycle(operation);
    lock_.unlock();
    return nullptr;
  }
  operation->keep_ = shared_from_this();
  if (!operation->finished()) engine_.add(*this);
  lock_.unlock();
  return operation;
}

void Channel::lock_to_start() {
  if (lock_.lock_to_start()) return;
  throw Error(Cause::usage, "two threads start operations on group " + who_.name +
                                " at the same moment; give each thread a group of its own (dup) or take turns");
}

bool Channel::advance_operations() {
  bool moved = false;
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    if (operation->finished()) continue;
    moved = operation->advance() || moved;
  }
  return moved;
}

bool Channel::advance(Rank& awaited) {
  if (!lock_.try_lock()) return false;
  const bool moved = advance_operations();
  settle();
  const bool alone = first_ != nullptr && first_ == last_;
  awaited = alone ? first_->awaited() : -1;
  lock_.unlock();
  return moved;
}

bool Channel::idle() {
  if (!lock_.try_lock()) return false;
  const bool none = first_ == nullptr;
  lock_.unlock();
  return none;
}

void Channel::settle() {
  bool tell = false;
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    tell = tell || operation->published_ || operation->finished();
    operation->published_ = false;
  }
  if (!tell) return;
  update_consumed();
  drop_finished();
  if (board_)
    engine_.waiting().ring(mask_.data(), static_cast<int>(mask_.size()));
  else
    engine_.waiting().ring(engine_.setup().world_rank);
}

void Channel::drop_finished() {
  Operation* next = nullptr;
  for (Operation* operation = first_; operation != nullptr; operation = next) {
    next = operation->next_;
    if (!operation->finished()) continue;
    (operation->previous_ != nullptr ? operation->previous_->next_ : first_) = next;
    (next != nullptr ? next->previous_ : last_) = operation->previous_;
    // Acquire-release: as in Operation::release.
    if (operation->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle(operation);
  }
}

void Channel::recycle(Operation* operation) {
  operation->phase_.store(Phase::idle, std::memory_order_relaxed);  // relaxed: nobody refers to it any more
  operation->bound_.reset();
  operation->event_.reset();
  idle_.push_back(operation);
}

void Channel::update_consumed() {
  if (!board_) return;
  for (const Ring ring : {Ring::small, Ring::large}) {
    std::uint64_t consumed = next_cell_[slot(ring)];
    for (const Operation* operation = first_; operation != nullptr; operation = operation->next_) {
      if (operation->ring_ != ring || operation->released_ == operation->cells_end_) continue;
      consumed = operation->released_;
      break;
    }
    if (consumed == consumed_[slot(ring)]) continue;
    consumed_[slot(ring)] = consumed;
    host::Member& mine = board_.member(rank());
    // Release: pairs with the acquire in `space`; the writer reuses a cell only after this rank's reads of it.
    (ring == Ring::small ? mine.consumed_small : mine.consumed_large).store(consumed, std::memory_order_release);
    // The next cell's line is still at its readers: fetched back now, it is here when the next operation writes it.
    if (ring == Ring::small) host::prefetch_to_write(&board_.small(rank(), next_cell_[slot(ring)] + 1));
  }
}

bool Channel::space(Ring ring, std::uint64_t sequence) {
  std::uint64_t& least = all_consumed_[slot(ring)];
  if (sequence <= least + ring_length(ring)) return true;
  least = consumed_[slot(ring)];
  for (Rank other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    const host::Member& member = board_.member(other);
    // Acquire: pairs with the release in `update_consumed`.
    least = std::min(
        least, (ring == Ring::small ? member.consumed_small : member.consumed_large).load(std::memory_order_acquire));
  }
  return sequence <= least + ring_length(ring);
}

void Channel::write_record(const Operation& operation, const void* site) {
  const Description& says = operation.bound().description;
  host::Process::Last& last = engine_.segment().process(engine_.setup().world_rank).last;
  last.context.store(who_.context, std::memory_order_relaxed);  // relaxed: an obituary, read when this rank is dead
  last.sequence.store(operation.sequence(), std::memory_order_relaxed);
  last.kind.store(static_cast<std::uint32_t>(says.kind), std::memory_order_relaxed);
  if (!board_) return;
  host::Record& record = board_.record(rank(), operation.sequence());
  // Release fence after: whoever sees a field of the new record in check_record sees that the old one is void.
  record.sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.signature.store(operation.bound().signature, std::memory_order_relaxed);
  record.kind.store(static_cast<std::uint8_t>(says.kind), std::memory_order_relaxed);
  record.type.store(static_cast<std::uint8_t>(says.type), std::memory_order_relaxed);
  record.op.store(static_cast<std::uint8_t>(says.op), std::memory_order_relaxed);
  record.count.store(says.count, std::memory_order_relaxed);
  record.root.store(says.root, std::memory_order_relaxed);
  record.algorithm.store(says.algorithm, std::memory_order_relaxed);
  record.site.store(reinterpret_cast<std::uint64_t>(site), std::memory_order_relaxed);
  // Release: pairs with the acquire in record_of.
  record.sequence.store(operation.sequence() + 1, std::memory_order_release);
}

std::byte* Channel::fetched(std::size_t bytes) {
  if (fetched_.size() < bytes) fetched_.resize(bytes);
  return fetched_.data();
}

}  // namespace tutti::engine
