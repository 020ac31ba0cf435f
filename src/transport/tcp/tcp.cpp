// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/tcp.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "host/door.hpp"
#include "transport/tcp/network.hpp"

namespace tutti::transport::tcp {

namespace {

constexpr std::uint64_t told_at = room / 4;
constexpr std::uint64_t longest_tick = 100'000'000;  // nanoseconds
/// A flow of which nothing has come for so long does not keep others from theirs: its sender may compute.
constexpr std::uint64_t stalled = 5'000'000;
/// Of a connection that begins; in less time not even two packets can get lost.
constexpr std::uint64_t least_patience = 2'000'000'000;
/// Names in the set of events, beside the peers'; a knock at the host's door wakes, and says nothing.
constexpr std::uint64_t knock_event = host::Door::event, door_event = knock_event - 1, tick_event = door_event - 1;

std::uint32_t interest(bool loaded) { return loaded ? EPOLLIN | EPOLLOUT : EPOLLIN; }

/// New messages tell in `place` what of the other end's was taken; who sends none tells it by a word of its own.
bool carries_credit(Word word) { return word == Word::bytes || word == Word::announce; }

}  // namespace

Network::Network(Options options)
    : me_(options.identity.rank),
      options_(std::move(options)),
      ticker_(std::clamp<std::uint64_t>(options_.lost_after / 10, 1, longest_tick)),
      door_(options_.identity,
            {options_.patience, std::max(3 * options_.lost_after, least_patience), options_.stranger},
            {.wants = [this](Peer peer) { return !rendezvous_.is_lost(peer) && !line(peer).link.is_open(); },
             .enter = [this](Peer peer, base::Descriptor socket) { enter(peer, std::move(socket)); },
             .fail =
                 [this](Peer peer, const Door::Failure& failure) {
                   line(peer).silent = !failure.absent;
                   line(peer).unreached = failure.said;
                   broken_.push_back(peer);
                 },
             .answers =
                 [this](const Address& address) {
                   return std::ranges::any_of(
                       lines_, [&](const Line& one) { return one.link.is_open() && one.from.same_host(address); });
                 }}),
      lines_(static_cast<std::size_t>(options_.identity.size)),
      rendezvous_(*this, lines_.size()),
      buffer_(64 << 10) {
  const std::scoped_lock lock(forking_);
  door_.listen(options_.listen);
  events_.add(door_.descriptor(), EPOLLIN, door_event);
  events_.add(ticker_.descriptor(), EPOLLIN, tick_event);
  capabilities_ = {eager, false, "messages go through sockets", 0};
}

void Network::call(Peer peer) {
  if (peer == me_ || std::exchange(line(peer).called, true)) return;
  if (line(peer).link.is_open()) return;
  const std::string addresses = options_.find(peer);
  const std::scoped_lock lock(forking_);
  door_.call(peer, addresses);
}

bool Network::progress_door() {
  const std::scoped_lock lock(forking_);
  return door_.progress();
}

void Network::enter(Peer peer, base::Descriptor socket) {
  Line& one = line(peer);
  events_.add(socket.get(), interest(one.loaded), static_cast<std::uint64_t>(peer));
  repeat_within(socket.get(), options_.lost_after);
  if (delivery_of(socket.get()).shortest < short_way) control_ = heed_loss_alone(socket.get());
  one.called = true;
  one.from = Address::of_peer(socket.get());
  one.pulse.begin(options_.lost_after, base::now());
  one.link.open(std::move(socket));
  if (!one.link.write()) broken_.push_back(peer);
  watch(peer);
}

/// Knows whether there is more than the connection has taken, and asks to be told when it takes it.
void Network::watch(Peer peer) {
  Line& one = line(peer);
  const bool loaded = !one.link.idle() && (one.hurried || one.link.is_open());
  if (one.loaded == loaded) return;
  one.loaded = loaded;
  loaded_ += one.loaded ? 1 : -1;
  if (one.link.is_open()) events_.change(one.link.socket(), interest(one.loaded), static_cast<std::uint64_t>(peer));
}

void Network::post(Peer to, const Header& header, std::span<const std::byte> bytes) {
  if (to == me_) {
    hear(me_, header, bytes.data());
    return;
  }
  call(to);
  Line& one = line(to);
  Header said = header;
  one.hurried = true;
  if (carries_credit(said.word)) said.place = std::exchange(one.owed, 0);
  if (!one.link.put(said, bytes)) broken_.push_back(to);
  watch(to);
}

void Network::send(Transfer& transfer) {
  const bool near = transfer.peer == me_;
  std::int64_t& room_left = line(transfer.peer).room;
  const auto cost = static_cast<std::int64_t>(transfer.size + sizeof(Header));
  const bool small = transfer.size <= capabilities_.eager && (near || cost <= room_left || transfer.is_notice());
  if (small && !near) room_left -= cost;
  if (transfer.unhurried && !connected(transfer.peer))
    leave_for_later(transfer);
  else
    rendezvous_.send(transfer, small);
  bury();
}

/// As if its peer had been called, which it may not be; nor does anybody wait for it to leave.
void Network::leave_for_later(Transfer& transfer) {
  Line& one = line(transfer.peer);
  const bool called = std::exchange(one.called, true), hurried = one.hurried;
  rendezvous_.send(transfer, true);
  one.called = called;
  one.hurried = hurried;
  watch(transfer.peer);
}

void Network::recv(Transfer& transfer) {
  rendezvous_.recv(transfer, transfer.only && transfer.size > capabilities_.eager && transfer.peer != me_);
  if (transfer.state == State::pending && transfer.peer != me_) {
    awaited_ = transfer.peer;
    Line& one = line(transfer.peer);
    one.expected = one.expected || !(one.called || one.link.is_open());
  }
  bury();
}

bool Network::hear(Peer from, const Header& header, const std::byte* bytes) {
  if (header.word == Word::beat) return true;
  if (header.word == Word::parted) line(from).silent = true;
  const std::uint64_t credit = header.word == Word::credit   ? header.size
                               : carries_credit(header.word) ? header.place
                                                             : 0;
  line(from).room = std::min(room, line(from).room + static_cast<std::int64_t>(std::min<std::uint64_t>(credit, room)));
  return header.word == Word::credit || rendezvous_.hear(from, header, bytes);
}

/// Its sender may send others in its place.
void Network::taken(Peer from, std::uint64_t size) {
  if (from == me_) return;
  Line& one = line(from);
  one.owed += size + sizeof(Header);
  if (one.owed < told_at || rendezvous_.is_lost(from)) return;
  Header header = header_of(Word::credit, {});
  header.size = std::exchange(one.owed, 0);
  post(from, header, {});
}

void Network::want(std::uint64_t place, const Pull& pull) {
  (pull.announced() ? announced_ : expected_).push_back(place);
  ask();
}

void Network::over(std::uint64_t, const Pull& pull) {
  Pull ended = pull;
  count(ended, Pull::Flow::none);
  ask();
}

/// What was invited and has not begun may never come.
bool Network::abandon(std::uint64_t place, const Pull&) {
  if (Pull& pull = *rendezvous_.find(place); pull.flow == Pull::Flow::invited) count(pull, Pull::Flow::none);
  ask();
  return true;
}

void Network::count(Pull& pull, Pull::Flow flow) {
  const auto add = [&](Pull::Flow which, int number) {
    if (which == Pull::Flow::flowing) {
      flowing_ += number;
      line(pull.peer).flowing += number;
    }
    if (which == Pull::Flow::invited) invited_ += number;
  };
  add(std::exchange(pull.flow, flow), -1);
  add(flow, 1);
}

/// Lets the next large messages come, as long as there are few. What its sender has at hand does not wait for what may
/// not be there yet.
void Network::ask() {
  ask(announced_, false);
  ask(expected_, true);
}

void Network::ask(std::deque<std::uint64_t>& waiting, bool invite) {
  while (!waiting.empty()) {
    const int most = options_.flows - (invite ? invited_ : 0);
    if (flowing_ >= most && base::now() - flowed_ <= stalled) return;
    const std::uint64_t place = waiting.front();
    waiting.pop_front();
    Pull* const pull = rendezvous_.find(place);
    if (pull == nullptr || pull->asked) continue;
    count(*pull, pull->announced() ? Pull::Flow::flowing : Pull::Flow::invited);
    flowed_ = base::now();
    rendezvous_.ask(place);
  }
}

void Network::give(Transfer& transfer, std::uint64_t place) {
  if (transfer.peer == me_) {
    const Pull* const pull = rendezvous_.find(place);
    if (pull != nullptr && pull->transfer != nullptr && transfer.size > 0)
      base::copy(pull->transfer->data, transfer.data, transfer.size);
    transfer.state = State::done;
    return rendezvous_.finish(place);
  }
  if (!line(transfer.peer).link.put_large(place, transfer)) broken_.push_back(transfer.peer);
  watch(transfer.peer);
}

bool Network::expects(Peer from, const Header& header) {
  Pull* const pull = rendezvous_.find(header.place);
  if (pull == nullptr || pull->peer != from || !pull->asked || header.handle != pull->have) return false;
  if (pull->flow == Pull::Flow::invited) count(*pull, Pull::Flow::flowing);
  return header.size <= pull->size - pull->have && (header.size > 0 || pull->size == 0);
}

std::byte* Network::place(const Header& header) {
  const Pull* const pull = rendezvous_.find(header.place);
  return pull == nullptr || pull->transfer == nullptr ? nullptr : pull->transfer->data + header.handle;
}

bool Network::finished(const Header& header) {
  Pull* const pull = rendezvous_.find(header.place);
  if (pull == nullptr) return false;
  pull->have += header.size;
  if (pull->have < pull->size) return true;
  rendezvous_.finish(header.place);
  return false;
}

void Network::cancel(Transfer& transfer) {
  if (!rendezvous_.cancel(transfer)) {  // its receiver has asked for the bytes
    const Link::Detached left = line(transfer.peer).link.detach(transfer);
    transfer.state = left.rest == Link::Detached::Rest::all ? State::done : State::cancelled;
    if (left.rest == Link::Detached::Rest::cut) {
      Header header = header_of(Word::cut_off, transfer.tag);
      header.place = left.place;
      post(transfer.peer, header, {});
    }
  }
  bury();
}

bool Network::progress() { return (can_serve_awaited() && serve_awaited()) || serve_all(); }

/// Who waits looks twice before it sleeps, and each look is a system call: one at whom it waits for, then one at all.
bool Network::progress_in_turns() { return can_serve_awaited() ? serve_awaited() : serve_all(); }

bool Network::serve_all() {
  in_a_row_ = 0;
  bool moved = false, tick = false;
  for (const epoll_event& event : events_.look()) {
    if (event.data.u64 == door_event) {
      moved = progress_door() || moved;
    } else if (event.data.u64 == tick_event) {
      tick = true;  // what has come meanwhile is heard first
    } else if (event.data.u64 != knock_event) {
      const auto peer = static_cast<Peer>(event.data.u64);
      moved = line(peer).link.is_open() || moved;  // also when it is its end
      serve(peer, event.events);
    }
  }
  if (tick) {
    ticker_.take();
    moved = progress_door() || moved;
    look_for_dead();
    see_off();
  }
  if (!announced_.empty() || !expected_.empty()) ask();
  bury();
  return moved;
}

/// Who waits for a message most often gets it by looking at its sender alone; after some in a row the others are
/// served.
bool Network::serve_awaited() {
  const bool moved = serve(awaited_, EPOLLIN);
  in_a_row_ = moved ? in_a_row_ + 1 : most_in_a_row;
  bury();
  return moved;
}

/// True when something was read.
bool Network::serve(Peer peer, std::uint32_t events) {
  Line& one = line(peer);
  if (!one.link.is_open()) return false;
  if ((events & EPOLLOUT) != 0 && !one.link.write()) broken_.push_back(peer);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !one.link.read(peer, *this, buffer_)) broken_.push_back(peer);
  const bool moved = one.link.moved();
  one.heard = one.heard || moved;
  if (moved && one.flowing > 0) flowed_ = base::now();
  watch(peer);
  return moved;
}

void Network::forget(std::uint64_t context) {
  rendezvous_.forget(context);
  bury();
}

std::unique_ptr<Tcp> listen(Options options) { return std::make_unique<Network>(std::move(options)); }

}  // namespace tutti::transport::tcp
