// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/sender.hpp"

#include <algorithm>

#include "host/loan.hpp"

namespace tutti::transport::shm {

namespace {

// Fragments smaller than this are not worth a record: wait until there is more room.
constexpr std::size_t least_fragment = 4096;

}  // namespace

Sender::Sender(host::Segment& segment, Rank self, std::size_t eager, const std::function<void(Peer)>& wake)
    : segment_(segment), self_(self), eager_(eager), wake_(wake), lines_(static_cast<std::size_t>(segment.size())) {}

/// Pair blocks are mapped when they are first used: most pairs of a large job never speak.
Sender::Line& Sender::line(Peer peer) {
  Line& line = lines_[static_cast<std::size_t>(peer)];
  if (!line.ring) {
    const host::Offset offset = segment_.header().pairs + host::pair_offset(segment_.size(), peer, self_);
    line.ring.emplace(*reinterpret_cast<Pair*>(segment_.at(offset, sizeof(Pair))));
    const host::Offset bitmap = segment_.header().pairs + static_cast<std::uint64_t>(peer) * sizeof(host::Incoming);
    auto* incoming = reinterpret_cast<host::Incoming*>(segment_.at(bitmap, sizeof(host::Incoming)));
    line.incoming = &incoming->senders[host::process_word(self_)];
    line.slots.resize(offers);
    for (std::uint32_t i = 0; i < offers; ++i) line.slots[i] = offers - 1 - i;
  }
  return line;
}

void Sender::wait_for_room(Peer peer) {
  Line& waiting = line(peer);
  if (waiting.waits) return;
  waiting.waits = true;
  waiting_.push_back(peer);
}

void Sender::send(Transfer& transfer) {
  Line& line = this->line(transfer.peer);
  transfer.link = nullptr;
  transfer.state = line.lost ? State::lost : State::pending;
  if (line.lost) return;
  if (line.first == nullptr && put(line, transfer)) {
    publish(transfer.peer, line);
    return;
  }
  transfer.next = nullptr;
  (line.last != nullptr ? line.last->next : line.first) = &transfer;
  line.last = &transfer;
  wait_for_room(transfer.peer);
}

void Sender::control(Peer peer, const Record& record) {
  Line& line = this->line(peer);
  if (line.lost) return;
  line.controls.push_back(record);
  wait_for_room(peer);
}

/// Small messages that nobody receives would fill the peer's memory: beyond some of them they are announced, as large
/// ones are.
bool Sender::goes_at_once(Line& line, const Transfer& transfer) const {
  if (transfer.size > eager_) return false;
  return line.ring->keeps_few(transfer.size) || transfer.peer == self_ || transfer.is_notice();
}

/// Without a free slot a message is announced all the same: the one that the peer waits for may be behind it.
std::uint32_t Sender::take_slot(Line& line) {
  if (line.slots.empty()) return no_offer;
  const std::uint32_t slot = line.slots.back();
  line.slots.pop_back();
  return slot;
}

/// Puts one message into the ring: all of it, or its announcement. False: there is no room.
bool Sender::put(Line& line, Transfer& transfer) {
  Record record;
  record.set_tag(transfer.tag);
  record.signature = transfer.signature;
  record.size = transfer.size;
  if (goes_at_once(line, transfer)) {
    if (!line.ring->fits(transfer.size)) return false;
    record.kind = Kind::eager;
    record.length = static_cast<std::uint32_t>(transfer.size);
    line.ring->put(record, {transfer.data, transfer.size});
    line.ring->count(transfer.size);
    transfer.state = State::done;
    return true;
  }
  if (!line.ring->fits(0)) return false;
  record.kind = Kind::announce;
  record.slot = take_slot(line);
  record.handle = announced_.add({&transfer, transfer.peer, record.slot, false, 0, 0});
  const host::Offset offset = host::find_lent(segment_, transfer.data, transfer.size);
  record.address = offset != 0 ? lent | offset : reinterpret_cast<std::uintptr_t>(transfer.data);
  transfer.link = as_link(record.handle);
  if (record.slot != no_offer) {
    // Relaxed: the receiver looks only after it has acquired the announcement.
    line.ring->offer(record.slot).store(offer_word(record.handle, Offer::open), std::memory_order_relaxed);
    offered_.push_back(record.handle);
  }
  line.ring->put(record);
  return true;
}

bool Sender::flush() {
  if (waiting_.empty()) return false;
  bool moved = false;
  retry_.swap(waiting_);
  for (const Peer peer : retry_) {
    line(peer).waits = false;
    moved |= flush(peer);
  }
  retry_.clear();
  return moved;
}

bool Sender::collect() {
  if (offered_.empty()) return false;
  bool moved = false;
  std::erase_if(offered_, [&](std::uint64_t name) {
    Announced* const announced = announced_.find(name);
    if (announced == nullptr || announced->transfer == nullptr || announced->streaming) return true;
    // Acquire: pairs with the compare-exchange in Receiver::change_offer; it has read all it wanted.
    const std::uint64_t word = line(announced->peer).ring->offer(announced->slot).load(std::memory_order_acquire);
    if (word != offer_word(name, Offer::taken)) return false;
    announced->transfer->state = State::done;
    announced->transfer = nullptr;  // The name and the slot stay until `finish` comes.
    moved = true;
    return true;
  });
  return moved;
}

bool Sender::flush(Peer peer) {
  Line& line = this->line(peer);
  if (line.lost) return false;
  bool moved = false, again = true;
  // A few turns only: a reader that keeps pace must not keep this process from its other work.
  for (int turn = 0; again && turn < 4; ++turn) {
    const std::size_t blocked = put_waiting(line);
    moved |= publish(peer, line);
    again = blocked != 0 && line.ring->starve(blocked - 1);
  }
  if (line.ring->corrupt()) corrupt_.push_back(peer);
  if (!line.controls.empty() || line.first != nullptr || !line.streams.empty()) wait_for_room(peer);
  return moved || again;
}

/// Puts what fits. Returns 0, or 1 + the payload for which there was no room.
std::size_t Sender::put_waiting(Line& line) {
  std::size_t sent = 0;
  while (sent < line.controls.size() && line.ring->fits(0)) line.ring->put(line.controls[sent++]);
  line.controls.erase(line.controls.begin(), line.controls.begin() + static_cast<std::ptrdiff_t>(sent));
  if (!line.controls.empty()) return 1;
  while (line.first != nullptr) {
    Transfer& transfer = *line.first;
    Transfer* const next = transfer.next;
    if (!put(line, transfer)) return 1 + (transfer.size <= eager_ ? transfer.size : 0);
    line.first = next;
    if (next == nullptr) line.last = nullptr;
  }
  while (!line.streams.empty())
    if (!put_fragment(line)) return 1 + least_fragment;
  return 0;
}

/// Puts the next fragment of the first message that goes in fragments, which then goes to the back of the queue.
bool Sender::put_fragment(Line& line) {
  const std::uint64_t name = line.streams.front();
  Announced& announced = *announced_.find(name);
  Transfer& transfer = *announced.transfer;
  const std::size_t rest = transfer.size - announced.offset;
  const std::size_t length = std::min({rest, largest_payload, line.ring->room()});
  if (!line.ring->fits(length) || (length < rest && length < least_fragment)) return false;
  Record record;
  record.kind = Kind::fragment;
  record.length = static_cast<std::uint32_t>(length);
  record.handle = announced.their_name;
  record.address = announced.offset;
  line.ring->put(record, {transfer.data + announced.offset, length});
  announced.offset += length;
  line.streams.pop_front();
  if (length == rest) {
    transfer.state = State::done;
    end(name, announced);
  } else {
    line.streams.push_back(name);
  }
  return true;
}

/// Shows the peer what was put into its ring; false when there is nothing new.
bool Sender::publish(Peer peer, Line& line) {
  if (!line.ring->publish()) return false;
  // A read-modify-write on both sides (see Receiver::look_at_rings): either the receiver's exchange comes later and
  // sees the ring as it is now, or the bit stays for its next turn.
  line.incoming->fetch_or(std::uint64_t{1} << (self_ % 64), std::memory_order_acq_rel);
  if (wake_) wake_(peer);
  return true;
}

bool Sender::unqueue(Line& line, const Transfer& transfer) {
  Transfer* previous = nullptr;
  for (Transfer* one = line.first; one != nullptr; previous = one, one = one->next) {
    if (one != &transfer) continue;
    (previous != nullptr ? previous->next : line.first) = one->next;
    if (line.last == one) line.last = previous;
    return true;
  }
  return false;
}

bool Sender::cancel(Transfer& transfer) {
  if (unqueue(line(transfer.peer), transfer)) {
    transfer.state = State::cancelled;
    return true;
  }
  const std::uint64_t name = as_name(transfer);
  Announced* const announced = announced_.find(name);
  if (announced == nullptr || announced->transfer != &transfer) return false;
  stop(name, *announced);
  return true;
}

/// Ends an announced message whose transfer is taken back. Whoever changes the offer first decides: once it is
/// withdrawn, the receiver throws away what it may have read meanwhile. Without an offer it can read nothing.
void Sender::stop(std::uint64_t name, Announced& announced) {
  Transfer& transfer = *announced.transfer;
  announced.transfer = nullptr;
  Record record;
  record.set_tag(transfer.tag);
  if (announced.streaming) {
    record.kind = Kind::abort;
    record.handle = announced.their_name;
    transfer.state = State::cancelled;
    control(announced.peer, record);
    std::erase(line(announced.peer).streams, name);
    end(name, announced);
    return;
  }
  std::uint64_t expected = offer_word(name, Offer::open);
  // Acquire and release: pairs with the compare-exchange in Receiver::change_offer.
  const bool first =
      announced.slot == no_offer ||
      line(announced.peer)
          .ring->offer(announced.slot)
          .compare_exchange_strong(expected, offer_word(name, Offer::withdrawn), std::memory_order_acq_rel);
  if (first) {
    record.kind = Kind::withdraw;
    record.handle = name;
    control(announced.peer, record);
  }
  // The receiver's `go` may be on its way, or is where it says `streaming`. Nothing was sent; on_go answers it.
  transfer.state = first || expected == offer_word(name, Offer::streaming) ? State::cancelled : State::done;
}

/// Forgets an announced message; its slot, if it has one, may be used again.
void Sender::end(std::uint64_t name, Announced& announced) {
  Line& line = this->line(announced.peer);
  if (announced.slot != no_offer) line.slots.push_back(announced.slot);
  announced_.remove(name);
}

bool Sender::on_go(Peer peer, const Record& record) {
  Announced* const announced = announced_.find(record.handle);
  if (announced == nullptr || announced->peer != peer || announced->streaming) return false;
  announced->streaming = true;
  announced->their_name = record.address;
  if (announced->transfer != nullptr) {
    line(peer).streams.push_back(record.handle);
    wait_for_room(peer);
    return true;
  }
  Record answer;
  answer.kind = Kind::abort;
  answer.handle = announced->their_name;
  control(peer, answer);
  end(record.handle, *announced);
  return true;
}

bool Sender::on_finish(Peer peer, const Record& record) {
  Announced* const announced = announced_.find(record.handle);
  if (announced == nullptr || announced->peer != peer || announced->streaming) return false;
  if (announced->transfer != nullptr) announced->transfer->state = State::done;
  end(record.handle, *announced);
  return true;
}

void Sender::lose(Peer peer) {
  Line& line = this->line(peer);
  line.lost = true;
  for (Transfer* transfer = line.first; transfer != nullptr;) {
    Transfer* const next = transfer->next;
    transfer->state = State::lost;
    transfer = next;
  }
  line.first = line.last = nullptr;
  line.controls.clear();
  line.streams.clear();
  announced_.for_each([&](std::uint64_t name, Announced& announced) {
    if (announced.peer != peer) return;
    if (announced.transfer != nullptr) announced.transfer->state = State::lost;
    end(name, announced);
  });
}

}  // namespace tutti::transport::shm
