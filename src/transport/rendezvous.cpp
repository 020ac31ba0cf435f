// SPDX-License-Identifier: BSD-3-Clause
#include "transport/rendezvous.hpp"

#include "base/copy.hpp"

namespace tutti::transport {

void Rendezvous::post(Peer to, const Header& header, std::span<const std::byte> bytes) {
  if (!is_lost(to)) channel_.post(to, header, bytes);
}

void Rendezvous::post(Word word, Peer to, const Tag& tag, std::uint64_t handle) {
  Header header = header_of(word, tag);
  header.handle = handle;
  post(to, header);
}

void Rendezvous::send(Transfer& transfer, bool small) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  if (is_lost(transfer.peer)) {
    transfer.state = State::lost;
    return;
  }
  Header header = header_of(small ? Word::bytes : Word::announce, transfer.tag);
  header.size = transfer.size;
  header.signature = transfer.signature;
  if (small) {
    transfer.state = State::done;
    post(transfer.peer, header, {transfer.data, transfer.size});
  } else if (const auto invited = invitations_.take(transfer.peer, transfer.tag); invited && invited->fits(transfer)) {
    channel_.give(transfer, invited->place);
  } else {
    header.handle = announced_.add(&transfer);
    transfer.link = as_link(header.handle);
    post(transfer.peer, header);
  }
}

void Rendezvous::recv(Transfer& transfer, bool invite) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  if (Message* message = matching_.expect(transfer)) {
    complete(transfer, *message);
  } else if (is_lost(transfer.peer)) {
    matching_.withdraw(transfer);
    transfer.state = State::lost;
  } else if (invite) {
    pull(transfer, 0);
  }
}

bool Rendezvous::hear(Peer from, const Header& header, const std::byte* bytes) {
  switch (header.word) {
    case Word::announce:
      if (header.handle == 0) return false;
      [[fallthrough]];
    case Word::bytes:
      arrive(from, header, bytes);
      return true;
    case Word::invite:
      answer(invitation_of(from, header));
      return true;
    case Word::ready:
      give(from, header);
      return true;
    case Word::dropped:
      dropped(from, header.handle);
      return true;
    case Word::withdrawn:
      withdraw(from, header);
      return true;
    case Word::cut_off:
      return cut_off(from, header.place);
    default:
      return false;
  }
}

void Rendezvous::arrive(Peer from, const Header& header, const std::byte* bytes) {
  const bool announced = header.word == Word::announce;
  Transfer* const receive = matching_.find(from, header.tag());
  if (receive != nullptr && accepts(*receive, header.size, header.signature)) {
    if (announced) return pull(*receive, header.handle);
    uninvite(*receive);
    if (header.size != 0) base::copy(receive->data, bytes, static_cast<std::size_t>(header.size));
    receive->state = State::done;
    return channel_.taken(from, header.size);
  }
  if (receive != nullptr) uninvite(*receive);
  Message& message = matching_.obtain();
  message.peer = from;
  message.tag = header.tag();
  message.signature = header.signature;
  message.size = header.size;
  message.announced = announced;
  message.handle = header.handle;
  if (receive == nullptr && !announced) message.bytes.assign(bytes, bytes + header.size);
  if (receive != nullptr || !matching_.keep(message)) discard(message);
}

void Rendezvous::complete(Transfer& receive, Message& message) {
  const bool fits = accepts(receive, message.size, message.signature);
  if (fits && message.announced) {
    const std::uint64_t handle = message.handle;
    matching_.recycle(message);
    return pull(receive, handle);
  }
  uninvite(receive);
  if (!fits) return discard(message);
  if (message.size != 0) base::copy(receive.data, message.bytes.data(), static_cast<std::size_t>(message.size));
  receive.state = State::done;
  recycle(message);
}

void Rendezvous::pull(Transfer& receive, std::uint64_t handle) {
  std::uint64_t place = as_name(receive);
  Pull* wanted = pulls_.find(place);
  if (wanted == nullptr) {
    place = pulls_.add({.transfer = &receive, .peer = receive.peer, .size = receive.size, .tag = receive.tag});
    wanted = pulls_.find(place);
    receive.link = as_link(place);
  }
  wanted->handle = handle;
  if (!wanted->asked) channel_.want(place, Pull(*wanted));
}

void Rendezvous::ask(std::uint64_t place) {
  Pull* const pull = pulls_.find(place);
  if (pull == nullptr || pull->asked) return;
  pull->asked = true;
  pull->invited = !pull->announced();
  Header header = header_of(pull->invited ? Word::invite : Word::ready, pull->tag);
  header.handle = pull->handle;
  header.place = place;
  header.size = pull->size;
  if (pull->invited) header.signature = pull->transfer->signature;
  post(pull->peer, header);
}

/// The receive ends otherwise than by the bytes that it has invited, or would have.
void Rendezvous::uninvite(Transfer& receive) {
  close(as_name(receive));
  receive.link = nullptr;
}

void Rendezvous::close(std::uint64_t place) {
  const Pull* const found = pulls_.find(place);
  if (found == nullptr) return;
  const Pull pull = *found;
  pulls_.remove(place);
  channel_.over(place, pull);
}

void Rendezvous::discard(Message& message) {
  if (message.announced) post(Word::dropped, message.peer, message.tag, message.handle);
  recycle(message);
}

void Rendezvous::recycle(Message& message) {
  const bool was_here = !message.announced;
  const Peer from = message.peer;
  const std::uint64_t size = message.size;
  matching_.recycle(message);
  if (was_here) channel_.taken(from, size);
}

/// The receiver is ready: the bytes go. Of one that was cancelled it has been told, or will be.
void Rendezvous::give(Peer to, const Header& header) {
  Transfer** const found = announced_.find(header.handle);
  if (found == nullptr || (*found)->peer != to) return;
  give_announced(**found, header.place);
}

void Rendezvous::give_announced(Transfer& transfer, std::uint64_t place) {
  announced_.remove(as_name(transfer));
  transfer.link = nullptr;
  channel_.give(transfer, place);
}

/// What was announced before the invitation came goes; what has not been sent yet will. Where sizes or signatures
/// differ the receiver finds that out by the announcement.
void Rendezvous::answer(const Invitation& invitation) {
  Transfer* waiting = nullptr;
  announced_.for_each([&](std::uint64_t, Transfer* transfer) {
    if (transfer->peer == invitation.peer && transfer->tag == invitation.tag) waiting = transfer;
  });
  if (waiting == nullptr) {
    if (!matching_.has_forgotten(invitation.tag.context)) invitations_.keep(invitation);
  } else if (invitation.fits(*waiting)) {
    give_announced(*waiting, invitation.place);
  }
}

void Rendezvous::dropped(Peer from, std::uint64_t handle) {
  Transfer** const found = announced_.find(handle);
  if (found == nullptr || (*found)->peer != from) return;
  (*found)->state = State::done;
  announced_.remove(handle);
}

/// The sender has cancelled what it announced. A receive that waits for its bytes waits for the next message instead.
void Rendezvous::withdraw(Peer from, const Header& header) {
  if (Message* message = matching_.retract(from, header.tag(), header.handle)) return matching_.recycle(*message);
  std::uint64_t place = 0;
  Transfer* receive = nullptr;
  pulls_.for_each([&](std::uint64_t name, Pull& pull) {
    if (pull.peer != from || pull.handle != header.handle || !pull.announced()) return;
    place = name;
    receive = pull.transfer;
    if (pull.invited) pull.handle = 0;
  });
  const Pull* const found = pulls_.find(place);
  if (found == nullptr) return;
  if (!found->invited) close(place);
  if (receive == nullptr) return;
  if (!pulls_.find(place)) receive->link = nullptr;
  if (Message* message = matching_.expect_again(*receive)) complete(*receive, *message);
}

/// The sender has taken back what was on its way: the receive waits for the next message, as if this one had never
/// been. One that was invited and never announced is posted still.
bool Rendezvous::cut_off(Peer from, std::uint64_t place) {
  const Pull* const found = pulls_.find(place);
  if (found == nullptr || found->peer != from || !found->asked) return false;
  Transfer* const receive = found->transfer;
  const bool posted = !found->announced();
  if (receive == nullptr) matching_.settle(from, found->tag);
  close(place);
  if (receive == nullptr) return true;
  receive->link = nullptr;
  if (posted) return true;
  if (Message* message = matching_.expect_again(*receive)) complete(*receive, *message);
  return true;
}

void Rendezvous::finish(std::uint64_t place, State state) {
  const Pull* const pull = pulls_.find(place);
  if (pull == nullptr) return;
  if (pull->transfer != nullptr) {
    if (!pull->announced()) matching_.withdraw(*pull->transfer);
    pull->transfer->state = state;
  }
  matching_.settle(pull->peer, pull->tag);
  close(place);
}

bool Rendezvous::cancel(Transfer& transfer) {
  if (transfer.state != State::pending) return true;
  const std::uint64_t name = as_name(transfer);
  if (Transfer** found = announced_.find(name); found != nullptr && *found == &transfer) {
    announced_.remove(name);
    transfer.state = State::cancelled;
    post(Word::withdrawn, transfer.peer, transfer.tag, name);
    return true;
  }
  if (Pull* pull = pulls_.find(name); pull != nullptr && pull->transfer == &transfer) {
    if (!pull->announced()) matching_.renounce(transfer);
    if (!pull->announced() && !pull->asked) {
      transfer.state = State::cancelled;
      close(name);
    } else if (channel_.abandon(name, *pull)) {
      pull->transfer = nullptr;
      transfer.state = State::cancelled;
    } else {
      finish(name);
    }
    return true;
  }
  if (!matching_.renounce(transfer)) return false;
  transfer.state = State::cancelled;
  return true;
}

void Rendezvous::lose(Peer peer) {
  lost_[static_cast<std::size_t>(peer)] = true;
  matching_.lose(peer, [this](Message& message) { matching_.recycle(message); });
  announced_.for_each([&](std::uint64_t handle, Transfer* transfer) {
    if (transfer->peer != peer) return;
    transfer->state = State::lost;
    announced_.remove(handle);
  });
  pulls_.for_each([&](std::uint64_t place, const Pull& pull) {
    if (pull.peer == peer) finish(place, State::lost);
  });
  invitations_.drop_if([&](const Invitation& one) { return one.peer == peer; });
}

void Rendezvous::forget(std::uint64_t context) {
  matching_.forget(context, [this](Message& message) { discard(message); });
  invitations_.drop_if([&](const Invitation& one) { return one.tag.context == context; });
}

}  // namespace tutti::transport
