// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/receiver.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/copy.hpp"
#include "transport/shm/copy.hpp"

namespace tutti::transport::shm {

namespace {

host::Incoming& own_incoming(host::Segment& segment, Rank self) {
  const host::Offset offset = segment.header().pairs + static_cast<std::uint64_t>(self) * sizeof(host::Incoming);
  return *reinterpret_cast<host::Incoming*>(segment.at(offset, sizeof(host::Incoming)));
}

Message& fill(Message& message, Peer peer, const Record& record) {
  message.peer = peer;
  message.tag = record.tag();
  message.signature = record.signature;
  message.size = record.size;
  message.announced = record.kind == Kind::announce;
  message.slot = record.slot;
  message.handle = record.handle;
  message.address = record.address;
  return message;
}

}  // namespace

Receiver::Receiver(host::Segment& segment, Rank self, Sender& sender, std::size_t piece, bool single_copy,
                   const std::function<void(Peer)>& wake)
    : segment_(segment),
      self_(self),
      sender_(sender),
      piece_(piece),
      single_copy_(single_copy),
      wake_(wake),
      incoming_(own_incoming(segment, self)),
      lines_(static_cast<std::size_t>(segment.size())) {}

Receiver::Line& Receiver::line(Peer peer) {
  Line& line = lines_[static_cast<std::size_t>(peer)];
  if (!line.ring) {
    const host::Offset offset = segment_.header().pairs + host::pair_offset(segment_.size(), self_, peer);
    line.ring.emplace(*reinterpret_cast<Pair*>(segment_.at(offset, sizeof(Pair))));
  }
  return line;
}

void Receiver::recv(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  match(transfer, matching_.expect(transfer));
}

/// Gives `message` to the receive; without one the receive is posted already.
void Receiver::match(Transfer& receive, Message* message) {
  while (message != nullptr && message->announced && is_withdrawn(message->peer, message->slot, message->handle)) {
    discard(*message);
    message = matching_.expect_again(receive);
  }
  if (message == nullptr) {
    if (line(receive.peer).lost && matching_.withdraw(receive)) receive.state = State::lost;
    return;
  }
  if (!accepts(receive, message->size, message->signature)) {
    discard(*message);
  } else if (message->announced) {
    start(receive, *message);
    matching_.recycle(*message);
  } else {
    std::copy(message->bytes.begin(), message->bytes.end(), receive.data);
    receive.state = State::done;
    discard(*message);
  }
}

bool Receiver::progress() {
  const bool moved = look_at_rings();
  return fetch_pieces() || moved;
}

bool Receiver::look_at_rings() {
  bool moved = false;
  const int words = (std::min(segment_.size(), host::process_bits) + 63) / 64;
  for (int word = 0; word < words; ++word) {
    auto& senders = incoming_.senders[word];
    if (senders.load(std::memory_order_relaxed) == 0) continue;
    for (std::uint64_t bits = senders.exchange(0, std::memory_order_acq_rel); bits != 0; bits &= bits - 1)
      for (Peer peer = word * 64 + std::countr_zero(bits); peer < segment_.size(); peer += host::process_bits)
        moved |= drain(peer);
  }
  return moved;
}

/// Reads what is in a ring now; what comes meanwhile has set the peer's bit again.
bool Receiver::drain(Peer peer) {
  Line& line = this->line(peer);
  if (line.lost) return false;
  Consumer& ring = *line.ring;
  Record record;
  ring.limit();
  for (;;) {
    const Parsed parsed = ring.next(record);
    if (parsed == Parsed::nothing) break;
    if (parsed == Parsed::corrupt || !dispatch(peer, ring, record)) {
      corrupt_.push_back(peer);
      return false;
    }
    ring.skip(record);
  }
  const bool moved = ring.moved();
  if (ring.commit() && wake_) wake_(peer);
  return moved;
}

/// False when the record cannot be true.
bool Receiver::dispatch(Peer peer, Consumer& ring, const Record& record) {
  switch (record.kind) {
    case Kind::eager:
      on_eager(peer, ring, record);
      return true;
    case Kind::announce:
      return on_announce(peer, record);
    case Kind::fragment:
      return on_fragment(peer, ring, record);
    case Kind::withdraw:
      on_withdraw(peer, record);
      return true;
    case Kind::abort:
      on_abort(peer, record);
      return true;
    case Kind::go:
      return sender_.on_go(peer, record);
    case Kind::finish:
      return sender_.on_finish(peer, record);
    case Kind::none:
      break;
  }
  return false;
}

void Receiver::on_eager(Peer peer, Consumer& ring, const Record& record) {
  if (Transfer* receive = matching_.find(peer, record.tag())) {
    ring.take(record.length);
    if (!accepts(*receive, record.size, record.signature)) return;
    ring.payload({receive->data, record.length});
    receive->state = State::done;
    return;
  }
  Message& message = fill(matching_.obtain(), peer, record);
  message.bytes.resize(record.length);
  ring.payload(message.bytes);
  if (!matching_.keep(message)) discard(message);
}

bool Receiver::on_announce(Peer peer, const Record& record) {
  // Names start at generation 1; the largest possible size keeps address arithmetic from wrapping.
  if (record.handle >> 32 == 0 || record.size > (std::uint64_t{1} << 56)) return false;
  if ((record.address & lent) != 0 && !segment_.in_heap(record.address & ~lent, record.size)) return false;
  Message& message = fill(matching_.obtain(), peer, record);
  if (Transfer* receive = matching_.find(peer, message.tag)) {
    match(*receive, &message);
  } else if (!matching_.keep(message)) {
    discard(message);
  }
  return true;
}

bool Receiver::on_fragment(Peer peer, Consumer& ring, const Record& record) {
  Fetch* const fetch = fetches_.find(record.handle);
  if (fetch == nullptr) return true;  // The receive was cancelled meanwhile.
  if (fetch->peer != peer || !fetch->streaming || record.address != fetch->offset) return false;
  if (record.length > fetch->receive->size - fetch->offset) return false;
  ring.payload({fetch->receive->data + fetch->offset, record.length});
  fetch->offset += record.length;
  if (fetch->offset == fetch->receive->size) end(record.handle, State::done);
  return true;
}

/// The sender has taken an announced message back. It waits for `finish`, once, before it uses the slot again.
void Receiver::on_withdraw(Peer peer, const Record& record) {
  if (Message* message = matching_.retract(peer, record.tag(), record.handle)) {
    discard(*message);
    return;
  }
  for (const std::uint64_t name : reading_) {
    const Fetch& fetch = *fetches_.find(name);
    if (fetch.peer != peer || fetch.handle != record.handle) continue;
    finish(peer, fetch.handle);
    post_again(name);
    return;
  }
}

void Receiver::on_abort(Peer peer, const Record& record) {
  const Fetch* const fetch = fetches_.find(record.handle);
  if (fetch != nullptr && fetch->peer == peer && fetch->streaming) post_again(record.handle);
}

/// Fetches an announced message into a receive that accepts it.
void Receiver::start(Transfer& receive, const Message& message) {
  const std::uint64_t name =
      fetches_.add({&receive, message.peer, message.slot, false, message.handle, message.address, 0});
  receive.link = as_link(name);
  const bool readable = single_copy_ || (message.address & lent) != 0;
  if (!readable || message.slot == no_offer) {
    ask_for_fragments(name);
  } else {
    reading_.push_back(name);
  }
}

/// One piece of each message that is read, so that other traffic moves.
bool Receiver::fetch_pieces() {
  if (reading_.empty()) return false;
  turn_ = reading_;
  for (const std::uint64_t name : turn_)
    if (fetches_.find(name) != nullptr) fetch_piece(name);
  turn_.clear();
  return true;
}

void Receiver::fetch_piece(std::uint64_t name) {
  Fetch& fetch = *fetches_.find(name);
  const std::size_t length = std::min<std::uint64_t>(piece_, fetch.receive->size - fetch.offset);
  const std::uint64_t from = fetch.address + fetch.offset;
  std::byte* const to = fetch.receive->data + fetch.offset;
  const int error = (from & lent) != 0 ? copy_lent(from & ~lent, {to, length})
                                       : read_memory(segment_.process(fetch.peer).pid, from, {to, length});
  if (error != 0) return could_not_read(name, error);
  fetch.offset += length;
  if (fetch.offset == fetch.receive->size) fetched(name);
}

/// As read_memory.
int Receiver::copy_lent(host::Offset from, std::span<std::byte> to) {
  try {
    base::copy(to.data(), segment_.at(from, to.size()), to.size());
    return 0;
  } catch (const Error&) {  // this process has no addresses left
    return ENOMEM;
  }
}

/// All bytes are here. They count only when the sender has not taken the message back and still lives: another process
/// could have its number by now.
void Receiver::fetched(std::uint64_t name) {
  const Fetch fetch = *fetches_.find(name);
  if (fetch.peer != self_ && segment_.probe(fetch.peer) != host::Life::alive) return end(name, State::lost);
  const bool taken = change_offer(fetch.peer, fetch.slot, fetch.handle, Offer::taken);
  finish(fetch.peer, fetch.handle);
  if (taken)
    end(name, State::done);
  else
    post_again(name);
}

void Receiver::could_not_read(std::uint64_t name, int error) {
  const Fetch fetch = *fetches_.find(name);
  if (is_withdrawn(fetch.peer, fetch.slot, fetch.handle)) {
    finish(fetch.peer, fetch.handle);
    post_again(name);
  } else if (error == ESRCH) {
    end(name, State::lost);
  } else {
    std::erase(reading_, name);
    ask_for_fragments(name);
  }
}

void Receiver::ask_for_fragments(std::uint64_t name) {
  Fetch& fetch = *fetches_.find(name);
  if (!change_offer(fetch.peer, fetch.slot, fetch.handle, Offer::streaming)) {
    finish(fetch.peer, fetch.handle);
    return post_again(name);
  }
  fetch.streaming = true;
  fetch.offset = 0;
  Record record;
  record.kind = Kind::go;
  record.handle = fetch.handle;
  record.address = name;
  sender_.control(fetch.peer, record);
}

/// False when the sender was first: the message is withdrawn (or the slot holds what cannot be, which is no better).
/// Without an offer the sender decides, when `go` or `finish` comes.
bool Receiver::change_offer(Peer peer, std::uint32_t slot, std::uint64_t handle, Offer offer) {
  if (slot == no_offer) return true;
  std::uint64_t expected = offer_word(handle, Offer::open);
  return line(peer).ring->offer(slot).compare_exchange_strong(expected, offer_word(handle, offer),
                                                              std::memory_order_acq_rel);
}

bool Receiver::is_withdrawn(Peer peer, std::uint32_t slot, std::uint64_t handle) {
  return slot != no_offer &&
         line(peer).ring->offer(slot).load(std::memory_order_acquire) != offer_word(handle, Offer::open);
}

/// The message that this receive had is gone: the receive waits for the next one, ahead of later receives.
void Receiver::post_again(std::uint64_t name) {
  Transfer& receive = *fetches_.find(name)->receive;
  fetches_.remove(name);
  std::erase(reading_, name);
  receive.link = nullptr;
  match(receive, matching_.expect_again(receive));
}

void Receiver::end(std::uint64_t name, State state) {
  fetches_.find(name)->receive->state = state;
  fetches_.remove(name);
  std::erase(reading_, name);
}

void Receiver::finish(Peer peer, std::uint64_t handle) {
  Record record;
  record.kind = Kind::finish;
  record.handle = handle;
  sender_.control(peer, record);
}

void Receiver::discard(Message& message) {
  if (message.announced) {
    change_offer(message.peer, message.slot, message.handle, Offer::taken);
    finish(message.peer, message.handle);
  } else {
    line(message.peer).ring->take(message.bytes.size());
  }
  matching_.recycle(message);
}

void Receiver::cancel(Transfer& transfer) {
  const std::uint64_t name = as_name(transfer);
  const Fetch* const found = fetches_.find(name);
  if (found == nullptr || found->receive != &transfer) {
    matching_.renounce(transfer);
    transfer.state = State::cancelled;
    return;
  }
  const Fetch fetch = *found;
  if (!fetch.streaming) {
    change_offer(fetch.peer, fetch.slot, fetch.handle, Offer::taken);
    finish(fetch.peer, fetch.handle);
  }
  end(name, State::cancelled);
}

void Receiver::lose(Peer peer, bool read_ring) {
  while (read_ring && drain(peer)) {
  }
  line(peer).lost = true;
  fetches_.for_each([&](std::uint64_t name, Fetch& fetch) {
    if (fetch.peer == peer) end(name, State::lost);
  });
  matching_.lose(peer, [&](Message& message) { discard(message); });
}

void Receiver::forget(std::uint64_t context) {
  matching_.forget(context, [&](Message& message) { discard(message); });
}

}  // namespace tutti::transport::shm
