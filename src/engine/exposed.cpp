// SPDX-License-Identifier: BSD-3-Clause
// Memory that one rank exposes and others read or write, and how its owner gets it back when the group breaks.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/copy.hpp"
#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "transport/shm/copy.hpp"

namespace tutti::engine {

/// Whether another rank is at this rank's memory. Whether he is there at all is asked of his lock: he may be noted as
/// dead while one of his threads still writes.
bool Channel::is_touched() const {
  for (Rank other = 0; other < board_.size(); ++other) {
    // Sequentially consistent: partner of while_whole, see tell_members.
    if (other == row() || board_.member(other).touching.load(std::memory_order_seq_cst) != row()) continue;
    if (engine_.setup().direct || engine_.segment().is_locked(place_of(near_[static_cast<std::size_t>(other)])))
      return true;
  }
  return false;
}

/// Fails what is pending. Other processes that only read this one's memory drop what they have read when the group is
/// broken; so do those who read what it has lent. Who writes it, or touches it inside one address space, where its
/// owner might free it, comes first: such an operation stays pending until he is done, also if he is stopped in the
/// middle, for he will write when he goes on.
bool Channel::fail_operations() {
  bool failed = false;
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    if (operation->finished()) continue;
    const Bound& bound = operation->bound();
    if ((bound.opens || (bound.exposes && engine_.setup().direct)) && is_touched()) continue;
    operation->fail(broken_);
    failed = true;
  }
  return failed;
}

template <class Work>
bool Channel::while_whole(Rank row, Work work) {
  std::atomic<std::int32_t>& touching = board_.member(this->row()).touching;
  touching.store(row, std::memory_order_seq_cst);  // partner: tell_members and is_touched
  const bool whole = board_.header().broken.load(std::memory_order_seq_cst) == 0;
  if (whole) work();
  touching.store(-1, std::memory_order_seq_cst);
  return whole;  // broken: the next look at the alarm ends the operation
}

bool Channel::read_exposed(Operation& operation, Rank row, const Exposed& from, std::span<std::byte> to) {
  if (from.here != nullptr) {
    base::copy(to.data(), from.here, to.size());
    return still_whole();
  }
  if (engine_.setup().direct)
    return while_whole(row, [&] { base::copy(to.data(), reinterpret_cast<const std::byte*>(from.there), to.size()); });
  const Rank place = place_of(near_[static_cast<std::size_t>(row)]);
  const int refused = transport::shm::read_memory(engine_.segment().process(place).pid, from.there, to);
  return refused == 0 ? still_whole() : allowed(operation, row, "read", refused);
}

/// Whoever has broken the group has his memory back, and may have filled it anew: what was read counts while the group
/// is whole.
bool Channel::still_whole() {
  // Acquire, behind the reads: partner of the full fences in raise_alarm and tell_members, one of which comes before
  // any owner's error.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (board_.header().broken.load(std::memory_order_relaxed) == 0) return true;
  look_at_alarm();  // where the finder still writes what it has found, a later look ends the operation
  return false;
}

bool Channel::write_exposed(Operation& operation, Rank row, const Exposed& to, std::span<const std::byte> from) {
  const Rank place = place_of(near_[static_cast<std::size_t>(row)]);
  int refused = 0;
  const bool whole = while_whole(row, [&] {
    if (to.here != nullptr)
      base::copy(to.here, from.data(), from.size());
    else if (engine_.setup().direct)
      base::copy(reinterpret_cast<std::byte*>(to.there), from.data(), from.size());
    else if (engine_.segment().probe(place) != host::Life::alive)
      refused = ESRCH;  // its number may be another process's by now
    else
      refused = transport::shm::write_memory(engine_.segment().process(place).pid, to.there, from);
  });
  return whole && allowed(operation, row, "write", refused);
}

bool Channel::allowed(Operation& operation, Rank row, const char* verb, int refused) {
  if (refused == 0) return true;
  const Rank owner = near_[static_cast<std::size_t>(row)], place = place_of(owner);
  // A process loses its memory a moment before its lock.
  if (refused == ESRCH) engine_.segment().declare_dead(place);
  engine_.segment().probe(place);
  look_at_alarm();
  if (broken_) return false;
  break_with(std::make_shared<const Error>(Cause::system,
                                           describe(operation) + " cannot " + verb + " the memory of rank " +
                                               std::to_string(owner) + ": " + std::strerror(refused) +
                                               ". Set TUTTI_SINGLE_COPY=off to do without.",
                                           owner),
             owner, operation.sequence());
  return false;
}

}  // namespace tutti::engine
