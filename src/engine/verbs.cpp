// SPDX-License-Identifier: BSD-3-Clause
// What each verb of a plan does. Every function here returns true when its step is complete.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/operation.hpp"
#include "engine/reduction.hpp"

namespace tutti::engine {

using plan::Buffer;
using plan::Index;
using plan::Ring;
using plan::Slice;
using plan::Step;
using plan::Verb;

namespace {

/// Bytes of exposed memory fetched at a time for a reduction: stays in the first-level cache.
constexpr Count fetch_bytes = 16 << 10;

}  // namespace

bool Operation::run(Index index) {
  const Step& step = bound_->plan.steps[index];
  switch (step.verb) {
    case Verb::send:
    case Verb::recv:
    case Verb::recv_reduce:
      return start_transfer(index);
    case Verb::reduce:
    case Verb::copy:
      return combine(index);
    case Verb::publish:
      return publish(step);
    case Verb::await:
      return await(index);
    case Verb::release:
      released_ = std::max(released_, cell_sequence(step.cell));
      channel_.update_consumed();
      published_ = true;  // a writer may wait for the space
      return true;
  }
  return true;
}

bool Operation::poll(Index index) { return bound_->transfer[index] >= 0 ? poll_transfer(index) : run(index); }

std::byte* Operation::address(const Slice& slice) const {
  const std::size_t offset = static_cast<std::size_t>(slice.offset) * bound_->element;
  switch (slice.buffer) {
    case Buffer::input:
      return const_cast<std::byte*>(buffers_.input) + offset;  // the checker proves it is only read
    case Buffer::output:
      return buffers_.output + offset;
    case Buffer::scratch:
      return const_cast<std::byte*>(scratch_.data()) + offset;
    case Buffer::shared:
      return cell(slice.owner, slice.cell).payload + offset;
    default:
      return nullptr;
  }
}

host::Cell& Operation::cell(Rank owner, std::int32_t number) const {
  const std::uint64_t sequence = cell_sequence(number);
  return ring_ == Ring::small ? channel_.board_.small(owner, sequence) : channel_.board_.large(owner, sequence);
}

bool Operation::publish(const Step& step) {
  const std::uint64_t sequence = cell_sequence(step.cell);
  if (!channel_.space(ring_, sequence)) return false;
  host::Cell& mine = cell(channel_.rank(), step.cell);
  const bool exposed = step.source.buffer != Buffer::shared;
  mine.length = static_cast<std::uint64_t>(step.source.count) * bound_->element;
  mine.address = exposed ? reinterpret_cast<std::uint64_t>(address(step.source)) : 0;
  // Release: pairs with the acquire in `seen`; payload, length and address become visible with the word.
  mine.word.store(word(sequence), std::memory_order_release);
  published_ = true;
  return true;
}

std::uint64_t Operation::word(std::uint64_t sequence) const {
  return static_cast<std::uint64_t>(bound_->signature) << 32 | static_cast<std::uint32_t>(sequence);
}

Rank Operation::next_owner(Index index) const {
  const Step& step = bound_->plan.steps[index];
  if (step.peer != plan::everyone) return step.peer;
  const Rank next = channel_.rank() + 1 + static_cast<Rank>(progress_[bound_->in_order ? 0 : index]);
  return next >= channel_.size() ? next - channel_.size() : next;
}

bool Operation::await(Index index) {
  const Step& step = bound_->plan.steps[index];
  if (step.peer != plan::everyone) return seen(step, step.peer);
  std::uint64_t& done = progress(index);
  for (const auto others = static_cast<std::uint64_t>(channel_.size() - 1); done < others; ++done)
    if (!seen(step, next_owner(index))) return false;
  return true;
}

bool Operation::seen(const Step& step, Rank owner) {
  const host::Cell& theirs = cell(owner, step.cell);
  // Acquire: pairs with the release store in `publish`.
  const std::uint64_t is = theirs.word.load(std::memory_order_acquire);
  const std::uint64_t expected = word(cell_sequence(step.cell));
  if (is != expected) {
    // The right turn of the ring with another signature: another call, unless the word is 2^32 cells old.
    if (static_cast<std::uint32_t>(is) == static_cast<std::uint32_t>(expected)) channel_.check_record(*this, owner);
    return false;
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(step.source.count) * bound_->element;
  if (theirs.length == bytes) return true;
  channel_.counts_disagree(*this, owner, theirs.length, bytes);
  return false;
}

bool Operation::combine_at_once(const Step& step) {
  const Count count = step.target.count;
  if (count == 0) return true;
  if (step.verb == Verb::copy)
    std::memcpy(address(step.target), address(step.source), static_cast<std::size_t>(count) * bound_->element);
  else
    reduce(reduction_, bound_->description.type, bound_->element, address(step.source), address(step.target), count,
           step.side);
  return true;
}

bool Operation::combine(Index index) {
  const Step& step = bound_->plan.steps[index];
  if (!may_write(step.target)) return false;
  if (step.source.buffer != Buffer::exposed && bound_->small[index]) return combine_at_once(step);
  const auto element = static_cast<Count>(bound_->element);
  const Count total = step.target.count;
  const bool exposed = step.source.buffer == Buffer::exposed;
  const bool copies = step.verb == Verb::copy;
  auto done = static_cast<Count>(progress(index));
  const Count most = std::max<Count>(1, (exposed && !copies ? fetch_bytes : Bound::piece_bytes) / element);
  const Count stop = std::min(total, done + std::max<Count>(1, Bound::piece_bytes / element));
  while (done < stop) {
    const Count n = std::min(most, stop - done);
    const Slice target = step.target.part(done, n);
    const Slice source = step.source.part(done, n);
    std::byte* to = address(target);
    if (exposed && !fetch(source, copies ? to : channel_.fetched(static_cast<std::size_t>(n * element)))) return false;
    const std::byte* from = exposed ? channel_.fetched(0) : address(source);
    if (!copies) {
      reduce(reduction_, bound_->description.type, bound_->element, from, to, n, step.side);
    } else if (!exposed) {
      std::memcpy(to, from, static_cast<std::size_t>(n * element));
    }
    done += n;
  }
  progress(index) = static_cast<std::uint64_t>(done);
  return done == total;
}

bool Operation::fetch(const Slice& source, std::byte* to) {
  const host::Cell& theirs = cell(source.owner, source.cell);
  const std::uint64_t offset = static_cast<std::uint64_t>(source.offset) * bound_->element;
  const std::uint64_t bytes = static_cast<std::uint64_t>(source.count) * bound_->element;
  // Written by another process: checked before use.
  if (theirs.address == 0 || offset > theirs.length || bytes > theirs.length - offset) {
    channel_.counts_disagree(*this, source.owner, theirs.length, offset + bytes);
    return false;
  }
  return channel_.read_exposed(*this, source.owner, theirs.address + offset, {to, bytes});
}

transport::Tag Operation::tag(const Step& step) const {
  if (lane_ == transport::Lane::user) return {channel_.who_.context, 0, user_tag_, lane_};
  return {channel_.who_.context, sequence_, step.message | stage_ << 31, lane_};
}

bool Operation::may_write(const Slice& target) {
  return target.buffer != Buffer::shared || channel_.space(ring_, cell_sequence(target.cell));
}

bool Operation::start_transfer(Index index) {
  const Step& step = bound_->plan.steps[index];
  if (step.verb == Verb::recv && !may_write(step.target)) return false;
  transport::Transfer& transfer = transfers_[static_cast<std::size_t>(bound_->transfer[index])];
  const Slice& slice = step.verb == Verb::send ? step.source : step.target;
  transfer.peer = channel_.who_.world[static_cast<std::size_t>(step.peer)];
  transfer.tag = tag(step);
  transfer.signature = bound_->signature;
  transfer.data = step.verb == Verb::recv_reduce ? scratch_.data() + bound_->landing[index] : address(slice);
  transfer.size = static_cast<std::size_t>(slice.count) * bound_->element;
  {
    const std::lock_guard lock(channel_.engine_.transport_lock());
    transport::Transport& transport = channel_.engine_.transport();
    step.verb == Verb::send ? transport.send(transfer) : transport.recv(transfer);
  }
  return poll_transfer(index);
}

bool Operation::poll_transfer(Index index) {
  const Step& step = bound_->plan.steps[index];
  const transport::Transfer& transfer = transfers_[static_cast<std::size_t>(bound_->transfer[index])];
  transport::State state;
  {
    const std::lock_guard lock(channel_.engine_.transport_lock());
    state = transfer.state;
  }
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
      channel_.mismatch(*this, step.peer);
      return false;
    case transport::State::lost:
      channel_.peer_lost(step.peer, "is gone");
      return false;
  }
  if (step.verb == Verb::recv_reduce)
    reduce(reduction_, bound_->description.type, bound_->element, transfer.data, address(step.target),
           step.target.count, step.side);
  return true;
}

void Operation::take_back(transport::Transfer& transfer) {
  const std::lock_guard lock(channel_.engine_.transport_lock());
  if (transfer.state == transport::State::pending) channel_.engine_.transport().cancel(transfer);
}

}  // namespace tutti::engine
