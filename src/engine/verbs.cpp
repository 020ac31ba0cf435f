// SPDX-License-Identifier: BSD-3-Clause
// What each verb of a plan does. Every function here returns true when its step is complete.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "base/copy.hpp"
#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/operation.hpp"
#include "engine/reduction.hpp"
#include "host/loan.hpp"

namespace tutti::engine {

using plan::Buffer;
using plan::Index;
using plan::Verb;

namespace {

/// Bytes of exposed memory fetched at a time for a reduction: stays in the first-level cache.
constexpr std::size_t fetch_bytes = 16 << 10;

}  // namespace

std::byte* Operation::address(const Place& place) const {
  if (place.buffer == Buffer::shared) {
    if (place.area != Place::no_area) return address_in_area(place);
    return cell(place.owner, place.cell).payload + place.offset;
  }
  return bases_[static_cast<std::size_t>(place.buffer)] + place.offset;
}

std::byte* Operation::address_in_area(const Place& place) const {
  const bool mine = place.owner == channel_.row();
  if (!mine && reads_lent(place)) return lent_payload(place);
  const std::uint64_t slot = mine ? area(place.area).slot : cell(place.owner, place.cell).area;
  if (std::byte* const begin = channel_.board_.area(place.owner, slot)) return begin + place.offset;
  damaged(place.owner, "has no area where it says that its payload lies");
}

void Operation::damaged(Rank owner, const char* what) const {
  throw Unreadable("rank " + std::to_string(channel_.near_[static_cast<std::size_t>(owner)]) + " " + what +
                   "; some process wrote where it must not");
}

host::Cell& Operation::cell(Rank owner, std::int32_t number) const {
  return channel_.board_.cell(owner, cell_sequence(number));
}

bool Operation::may_write(const Place& target) const {
  return target.buffer != Buffer::shared || channel_.consumed(in_the_way(cell_sequence(target.cell), target.area));
}

std::uint64_t Operation::in_the_way(std::uint64_t sequence, std::int32_t area) const {
  const std::uint64_t cell_before = sequence > host::cells ? sequence - host::cells : 0;
  if (area == Place::no_area) return cell_before;
  return std::max(this->area(area).before, cell_before);
}

std::uint64_t Operation::word(std::uint64_t sequence) const {
  return static_cast<std::uint64_t>(chain_) << 32 | static_cast<std::uint32_t>(sequence);
}

Rank Operation::next_owner(const Instruction& step) const {
  if (step.peer != plan::everyone) return step.peer;
  const Rank next = channel_.row() + 1 + static_cast<Rank>(progress(step));
  return next >= channel_.board_.size() ? next - channel_.board_.size() : next;
}

bool Operation::seen(const Instruction& step, Rank owner) {
  const host::Cell& theirs = cell(owner, step.cell);
  // Acquire: pairs with the release store in `publish`.
  const std::uint64_t is = theirs.word.load(std::memory_order_acquire);
  const std::uint64_t expected = word(cell_sequence(step.cell));
  if (is == expected && theirs.length == step.bytes) [[likely]]
    return true;
  // The right turn of the ring with another signature: another call, unless the word is 2^32 cells old.
  if (static_cast<std::uint32_t>(is) == static_cast<std::uint32_t>(expected)) doubt(step, owner, is == expected);
  return false;
}

bool Operation::is_missing(const Instruction& step, Rank owner) const {
  // Relaxed: a hint; what has come is seen by the acquire in `seen`.
  return owner != channel_.row() &&
         cell(owner, step.cell).word.load(std::memory_order_relaxed) != word(cell_sequence(step.cell));
}

bool Operation::awaits_other_cores() const {
  const Instruction* const step = bound_->mutual ? first_blocked() : nullptr;
  if (step == nullptr || step->verb != Verb::await) return false;
  const auto place = [&](Rank row) { return channel_.place_of(channel_.near_[static_cast<std::size_t>(row)]); };
  const Rank here = place(channel_.row());
  for (Rank row = 0; row < channel_.board_.size(); ++row)
    // Where somebody runs is asked of who is missing alone: each rank notes that whenever it gets a core, and would
    // have to fetch the line back.
    if (is_missing(*step, row) && host::on_one_core(channel_.engine_.segment(), here, place(row))) return false;
  return true;
}

/// The cell is there and not as it should be.
void Operation::doubt(const Instruction& step, Rank owner, bool same_call) {
  if (same_call)
    channel_.counts_disagree(*this, channel_.near_[static_cast<std::size_t>(owner)], cell(owner, step.cell).length,
                             step.bytes);
  else
    channel_.check_records(owner);
}

bool Operation::await_everyone(const Instruction& step) {
  std::uint64_t& done = progress(step);
  for (const auto others = static_cast<std::uint64_t>(channel_.board_.size() - 1); done < others; ++done)
    if (!seen(step, next_owner(step))) return false;
  return true;
}

void Operation::say_where(const Place& source, std::size_t bytes, host::Cell& mine) const {
  if (source.buffer != Buffer::shared) {
    mine.address = reinterpret_cast<std::uint64_t>(address(source));
    mine.area = host::find_lent(channel_.engine_.segment(), address(source), bytes);
  } else if (source.area != Place::no_area) {
    const Slots::Given& payload = area(source.area);
    mine.area = payload.lent == 0 ? payload.slot : payload.lent;
    mine.address = payload.lent;
  }
}

bool Operation::publish(const Instruction& step) {
  const std::uint64_t sequence = cell_sequence(step.cell);
  if (!channel_.consumed(in_the_way(sequence, step.source.area))) return false;
  host::Cell& mine = cell(channel_.row(), step.cell);
  mine.length = step.bytes;
  mine.address = 0;
  if (!step.simple) say_where(step.source, step.bytes, mine);
  // Release: pairs with the acquire in `seen`; payload, length and address become visible with the word.
  mine.word.store(word(sequence), std::memory_order_release);
  published_ = true;
  return true;
}

bool Operation::combine(const Instruction& step) {
  if (!step.simple) return combine_otherwise(step);
  if (!may_write(step.target)) return false;
  combine_at_once(step);
  return true;
}

bool Operation::combine_otherwise(const Instruction& step) {
  if (step.lends != Instruction::Lends::no && lend(step)) return true;
  if (!may_write(step.target)) return false;
  const auto is_lent = [this](const Place& place) { return place.area != Place::no_area && reads_lent(place); };
  const bool lent = is_lent(step.source) || is_lent(step.other);
  if (!step.at_once && !combine_pieces(step)) return false;
  if (step.at_once) combine_at_once(step);
  return !lent || channel_.still_whole();
}

[[gnu::always_inline]] inline void Operation::combine_at_once(const Instruction& step) {
  if (step.count == 0) return;
  std::byte* const to = address(step.target);
  const std::byte* const from = address(step.source);
  if (step.other.buffer != Buffer::none)
    bound_->kernel(from, address(step.other), to, step.count);
  else if (step.verb == Verb::reduce)
    reduce_into(step, 0, to, from, step.count);
  else if (step.bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));  // a single number, and then a single instruction
  else
    move(step, to, from, step.bytes);
}

/// Of memory that this process sees as it is.
void Operation::move(const Instruction& step, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (step.target.area != Place::no_area) return channel_.area_writer_.copy(to, from, bytes);
  switch (step.streams) {
    case Instruction::Streams::no:
      return base::copy(to, from, bytes);
    case Instruction::Streams::maybe:
      return channel_.output_writer_.copy(to, from, bytes);
    case Instruction::Streams::yes:
      return base::copy_streaming(to, from, bytes);
  }
}

void Operation::reduce_into(const Instruction& step, std::size_t done, std::byte* target, const std::byte* source,
                            Count count) {
  if (bound_->kernel != nullptr) return bound_->kernel(source, target, target, count);
  if (bound_->exact)
    return bound_->exact->reduce(bound_->index_of(step), done, source, target,
                                 static_cast<std::size_t>(count) * bound_->element, scratch_.data());
  reduce(reduction_, bound_->description.type, bound_->element, source, target, count, step.side);
}

bool Operation::combine_pieces(const Instruction& step) {
  if (bound_->layouts.reach(step.source.buffer, step.target.buffer)) return combine_laid_out(step);
  const std::size_t element = bound_->element;
  const bool exposed = step.source.buffer == Buffer::exposed, copies = step.verb == Verb::copy;
  const auto whole = [element](std::size_t bytes) { return std::max<std::size_t>(1, bytes / element) * element; };
  const bool here = exposed && reads_in_place(step);
  const std::size_t most = whole(exposed && !copies && !here ? fetch_bytes : Bound::piece_bytes);
  std::uint64_t& done = progress(step);  // bytes
  const std::size_t stop = std::min<std::size_t>(step.bytes, done + whole(Bound::piece_bytes));
  while (done < stop) {
    const std::size_t bytes = std::min(most, stop - done);
    const Place source = step.source.from(done);
    if (step.target.buffer == Buffer::exposed) {
      if (!deliver({address(source), bytes}, step.target.from(done))) return false;
      done += bytes;
      worked_ = true;
      continue;
    }
    std::byte* to = address(step.target.from(done));
    const std::byte* const from = !exposed ? address(source)
                                  : here   ? in_place(source, bytes)
                                           : fetch(source, {copies ? to : channel_.fetched(bytes), bytes});
    if (from == nullptr) return false;
    if (step.other.buffer != Buffer::none) {
      bound_->kernel(from, address(step.other.from(done)), to, static_cast<Count>(bytes / element));
    } else if (!copies) {
      reduce_into(step, done, to, from, static_cast<Count>(bytes / element));
    } else if (from != to) {
      move(step, to, from, bytes);
    }
    if (here && !channel_.still_whole()) return false;
    done += bytes;
    worked_ = true;
  }
  return done == step.bytes;
}

bool Operation::reads_in_place(const Instruction& step) const {
  const bool lent = cell(step.source.owner, step.source.cell).area != 0;
  return lent && (step.verb == Verb::copy || bound_->kernel != nullptr);
}

const std::byte* Operation::in_place(const Place& source, std::size_t bytes) {
  const Exposed theirs = exposed(source, bytes);
  if (theirs && theirs.here == nullptr) damaged(source.owner, "no longer lends the memory that it exposes");
  return theirs.here;
}

const std::byte* Operation::fetch(const Place& source, std::span<std::byte> to) {
  const Exposed theirs = exposed(source, to.size());
  return theirs && channel_.read_exposed(*this, source.owner, theirs, to) ? to.data() : nullptr;
}

bool Operation::deliver(std::span<const std::byte> from, const Place& target) {
  const Exposed theirs = exposed(target, from.size());
  return theirs && channel_.write_exposed(*this, target.owner, theirs, from);
}

/// Nowhere, and the operation has failed, where the owner exposes less.
Exposed Operation::exposed(const Place& place, std::size_t bytes) {
  const host::Cell& theirs = cell(place.owner, place.cell);
  // Written by another process: checked before use.
  const std::uint64_t length = theirs.length, address = theirs.address, lent = theirs.area;
  if (address == 0 || place.offset > length || bytes > length - place.offset) {
    channel_.counts_disagree(*this, channel_.near_[static_cast<std::size_t>(place.owner)], length,
                             place.offset + bytes);
    return {};
  }
  return {address + place.offset, lent != 0 ? lent_at(lent, place, bytes) : nullptr};
}

bool Operation::run(const Instruction& step) {
  switch (step.verb) {
    case Verb::send:
    case Verb::recv:
    case Verb::recv_reduce:
      return start_transfer(step);
    case Verb::reduce:
    case Verb::copy:
      return combine(step);
    case Verb::publish:
      return publish(step);
    case Verb::await:
      return step.peer == plan::everyone ? await_everyone(step) : seen(step, step.peer);
    case Verb::release:
      give_back(step);
      return true;
  }
  return true;
}

void Operation::give_back(const Instruction& step) {
  released_ = std::max(released_, cell_sequence(step.cell));
  channel_.update_consumed();
  published_ = true;  // a writer may wait for the space
}

bool Operation::poll(Index index) {
  // A receive into a cell that others still read has not started yet.
  const Instruction& step = bound_->instructions[index];
  const bool started = step.transfer >= 0 && transfers_[static_cast<std::size_t>(step.transfer)].peer >= 0;
  return started ? poll_transfer(step) : run(step);
}

bool Operation::run_in_order() {
  const Instruction* const first = bound_->instructions.data();
  for (const Index end = bound_->steps; at_ != end; ++at_) {
    if (!run(first[at_])) return false;
    progress_at_ = 0;
  }
  return true;
}

bool Operation::advance_in_order() {
  const Index before = at_;
  if (!run_in_order()) return at_ != before;
  finish(Phase::done);
  return true;
}

transport::Tag Operation::tag(const Instruction& step) const {
  if (user_lane()) return {channel_.who_.context, 0, user_tag_, lane_};
  return {channel_.who_.context, sequence_, step.message, lane_};
}

bool Operation::start_transfer(const Instruction& step) {
  if (step.verb == Verb::recv && !may_write(step.target)) return false;
  // It may have been posted ahead.
  const bool posted = transfers_[static_cast<std::size_t>(step.transfer)].peer >= 0;
  return posted ? poll_transfer(step) : conclude(step, post(step));
}

void Operation::address_to(const Instruction& step, transport::Transfer& transfer) const {
  transfer.peer = channel_.who_.world[static_cast<std::size_t>(step.peer)];
  transfer.tag = tag(step);
  transfer.signature = chain_;
  transfer.only = !user_lane();
}

transport::State Operation::post(const Instruction& step) {
  transport::Transfer& transfer = transfers_[static_cast<std::size_t>(step.transfer)];
  address_to(step, transfer);
  transfer.data = step.verb == Verb::recv_reduce ? scratch_.data() + step.landing
                                                 : address(step.verb == Verb::send ? step.source : step.target);
  transfer.size = step.bytes;
  const std::lock_guard lock(channel_.engine_.transport_lock());
  transport::Transport& transport = channel_.engine_.transport();
  step.verb == Verb::send ? transport.send(transfer) : transport.recv(transfer);
  return transfer.state;
}

/// A large message that is to be combined lands in memory of its own: it may come as soon as its sender has it,
/// whatever its step waits for, and its sender shall know that in time.
void Operation::post_ahead() {
  const std::size_t eager = channel_.engine_.transport().capabilities().eager;
  if (bound_->largest_landing <= eager || bound_->any) return;
  for (const Instruction& step : bound_->instructions)
    if (step.verb == Verb::recv_reduce && step.bytes > eager) post(step);
}

bool Operation::poll_transfer(const Instruction& step) {
  const auto state = [&] {
    const std::lock_guard lock(channel_.engine_.transport_lock());
    return transfers_[static_cast<std::size_t>(step.transfer)].state;
  };
  return conclude(step, state());
}

bool Operation::conclude(const Instruction& step, transport::State state) {
  const transport::Transfer& transfer = transfers_[static_cast<std::size_t>(step.transfer)];
  switch (state) {
    case transport::State::pending:
      return false;
    case transport::State::done:
    case transport::State::cancelled:
      break;
    case transport::State::wrong_size:
      channel_.counts_disagree(*this, step.peer, transfer.their_size, transfer.size);
      return false;
    case transport::State::wrong_signature:
      channel_.wrong_signature(*this, step.peer);
      return false;
    case transport::State::lost:
      channel_.peer_gone(step.peer, "is gone");
      return false;
  }
  if (step.verb == Verb::recv_reduce) reduce_into(step, 0, address(step.target), transfer.data, step.count);
  return true;
}

/// What comes for a receipt that never began is refused as well, or its sender would wait for ever: as the message of
/// another operation, of which not a byte is written.
void Operation::cancel(const Instruction& step) {
  if (step.transfer < 0) return;
  transport::Transfer& transfer = transfers_[static_cast<std::size_t>(step.transfer)];
  if (transfer.peer < 0 && step.verb != Verb::send) {
    address_to(step, transfer);
    transfer.signature = ~chain_;
    const std::lock_guard lock(channel_.engine_.transport_lock());
    channel_.engine_.transport().recv(transfer);
  }
  if (transfer.peer >= 0) take_back(transfer);
}

void Operation::take_back(transport::Transfer& transfer) {
  const std::lock_guard lock(channel_.engine_.transport_lock());
  if (transfer.state == transport::State::pending) channel_.engine_.transport().cancel(transfer);
}

}  // namespace tutti::engine
