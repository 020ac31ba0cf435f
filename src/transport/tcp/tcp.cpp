// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/tcp.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "base/forks.hpp"
#include "host/door.hpp"
#include "transport/rendezvous.hpp"
#include "transport/tcp/door.hpp"
#include "transport/tcp/events.hpp"
#include "transport/tcp/link.hpp"
#include "transport/tcp/pulse.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

namespace {

/// Bytes of small messages that a peer may send before the receiver has taken them; others are announced. A receiver
/// that is far behind keeps so much for each peer, and no more.
constexpr std::int64_t room = 256 << 10;
constexpr std::uint64_t told_at = room / 4;
constexpr std::uint64_t longest_tick = 100'000'000;  // nanoseconds
/// A flow of which nothing has come for so long does not keep others from theirs: its sender may compute.
constexpr std::uint64_t stalled = 5'000'000;
/// Of a connection that begins; in less time not even two packets can get lost.
constexpr std::uint64_t least_patience = 2'000'000'000;
constexpr int most_in_a_row = 16;
/// Names in the set of events, beside the peers'; a knock at the host's door wakes, and says nothing.
constexpr std::uint64_t knock_event = host::Door::event, door_event = knock_event - 1, tick_event = door_event - 1;

std::uint32_t interest(bool loaded) { return loaded ? EPOLLIN | EPOLLOUT : EPOLLIN; }

/// New messages tell in `place` what of the other end's was taken; who sends none tells it by a word of its own.
bool carries_credit(Word word) { return word == Word::bytes || word == Word::announce; }

class Network final : public Tcp, private Hearer, private Channel {
 public:
  explicit Network(Options options);
  /// A child that was forked in the middle of it would keep what this one closes.
  ~Network() override {
    const std::scoped_lock lock(forking_);
    close_copies();
  }

  std::string_view name() const override { return "tcp"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::string addresses() const override { return door_.addresses(); }
  int descriptor() const override { return events_.descriptor(); }
  void call(Peer peer) override;
  bool connected(Peer peer) const override { return peer == me_ || line(peer).link.is_open(); }
  Fate fate(Peer peer) const override;
  std::uint64_t rate(Peer peer) const override;
  bool has_left() const override { return loaded_ == 0; }
  void drain(std::uint64_t nanoseconds) override;
  std::vector<Suspect> suspects() const override;

  void send(Transfer& transfer) override;
  void recv(Transfer& transfer) override;
  std::optional<Arrival> look(const Tag& tag) override { return rendezvous_.look(tag); }
  void cancel(Transfer& transfer) override;
  bool progress() override;
  bool progress_in_turns() override;
  void peer_lost(Peer peer) override;
  void forget(std::uint64_t context) override;

 private:
  struct Line {
    Link link;
    std::int64_t room = tcp::room;  ///< What the peer takes of small messages; below 0 by notices.
    std::uint64_t owed = 0;         ///< What this one has taken and not told.
    bool called = false;
    bool loaded = false;    ///< Something is left that its connection has not taken.
    bool expected = false;  ///< Something is to come from a peer that has not called, nor been called.
    bool heard = false;     ///< since the last tick
    bool silent = false;    ///< It was lost, or has lost this one, for want of answers.
    Pulse pulse;
  };
  Line& line(Peer peer) { return lines_[static_cast<std::size_t>(peer)]; }
  const Line& line(Peer peer) const { return lines_[static_cast<std::size_t>(peer)]; }

  bool hear(Peer from, const Header& header, const std::byte* bytes) override;
  bool expects(Peer from, const Header& header) override;
  std::byte* place(const Header& header) override;
  bool finished(const Header& header) override;

  void post(Peer to, const Header& header, std::span<const std::byte> bytes) override;
  void want(std::uint64_t place, const Pull& pull) override;
  void give(Transfer& transfer, std::uint64_t place) override;
  bool abandon(std::uint64_t place, const Pull& pull) override;
  void over(std::uint64_t place, const Pull& pull) override;
  void taken(Peer from, std::uint64_t size) override;

  void ask();
  void ask(std::deque<std::uint64_t>& waiting, bool invite);
  void count(Pull& pull, Pull::Flow flow);
  void enter(Peer peer, base::Descriptor socket);
  bool can_serve_awaited() const { return awaited_ >= 0 && in_a_row_ < most_in_a_row; }
  bool serve_awaited();
  bool serve_all();
  bool serve(Peer peer, std::uint32_t events);
  void watch(Peer peer);
  bool progress_door();
  void look_for_dead();
  void bury();
  void lose(Peer peer);
  void close_copies();

  Peer me_;
  Options options_;
  Capabilities capabilities_;
  Events events_;
  Ticker ticker_;
  Door door_;
  std::vector<Line> lines_;
  std::vector<Peer> broken_;  // whose connections have ended; they are lost when nobody is inside them
  Rendezvous rendezvous_;
  std::deque<std::uint64_t> announced_, expected_;  // places that have not been asked for, in order
  int flowing_ = 0, invited_ = 0;
  int loaded_ = 0;     // lines that are
  Peer awaited_ = -1;  // whose message was asked for last
  int in_a_row_ = 0;   // times that it alone was served; as many as there may be once it was in vain
  std::uint64_t flowed_ = 0, ticked_ = 0;
  std::vector<std::byte> buffer_;
  std::mutex forking_;  // held by who forks, and by who opens sockets or closes them
  const base::AtFork at_fork_{[this] { forking_.lock(); },
                              [this](bool in_child) {
                                if (in_child) close_copies();
                                forking_.unlock();
                              }};
};

Network::Network(Options options)
    : me_(options.identity.rank),
      options_(std::move(options)),
      ticker_(std::clamp<std::uint64_t>(options_.lost_after / 10, 1, longest_tick)),
      door_(options_.identity, {options_.patience, std::max(3 * options_.lost_after, least_patience)},
            {.wants = [this](Peer peer) { return !rendezvous_.is_lost(peer) && !line(peer).link.is_open(); },
             .enter = [this](Peer peer, base::Descriptor socket) { enter(peer, std::move(socket)); },
             .fail =
                 [this](Peer peer, bool absent) {
                   line(peer).silent = !absent;
                   broken_.push_back(peer);
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

/// A child has a copy of every socket, as long as it lives. With it the others would not see the end of this process:
/// the system would go on acknowledging what they send, and let their calls in.
void Network::close_copies() {
  for (Line& one : lines_) one.link.close_copy();
  door_.close_copies();
  ticker_.close_copy();
  events_.close_copy();
}

void Network::enter(Peer peer, base::Descriptor socket) {
  Line& one = line(peer);
  events_.add(socket.get(), interest(one.loaded), static_cast<std::uint64_t>(peer));
  repeat_within(socket.get(), options_.lost_after);
  one.called = true;
  one.pulse.begin(options_.lost_after, base::now());
  one.link.open(std::move(socket));
  if (!one.link.write()) broken_.push_back(peer);
  watch(peer);
}

/// Knows whether there is more than the connection has taken, and asks to be told when it takes it.
void Network::watch(Peer peer) {
  Line& one = line(peer);
  if (one.loaded == !one.link.idle()) return;
  one.loaded = !one.loaded;
  loaded_ += one.loaded ? 1 : -1;
  if (one.link.is_open()) events_.change(one.link.socket(), interest(one.loaded), static_cast<std::uint64_t>(peer));
}

/// What the system has not been told to have arrived would be lost where unread words of the peer are left: a socket
/// that is closed with those is reset.
void Network::drain(std::uint64_t nanoseconds) {
  const std::uint64_t until = base::now() + nanoseconds;
  const auto arrived = [](const Line& one) {
    int left = 0;
    return !one.link.is_open() || ioctl(one.link.socket(), SIOCOUTQ, &left) != 0 || left == 0;
  };
  while (base::now() < until && !(has_left() && std::ranges::all_of(lines_, arrived))) {
    pollfd something{events_.descriptor(), POLLIN, 0};
    if (!progress()) poll(&something, 1, 1);
  }
}

void Network::post(Peer to, const Header& header, std::span<const std::byte> bytes) {
  if (to == me_) {
    hear(me_, header, bytes.data());
    return;
  }
  call(to);
  Line& one = line(to);
  Header said = header;
  if (carries_credit(said.word)) said.place = std::exchange(one.owed, 0);
  if (!one.link.put(said, bytes)) broken_.push_back(to);
  watch(to);
}

void Network::send(Transfer& transfer) {
  const bool near = transfer.peer == me_;
  std::int64_t& room_left = line(transfer.peer).room;
  const auto cost = static_cast<std::int64_t>(transfer.size + sizeof(Header));
  const bool small = transfer.size <= eager && (near || cost <= room_left || transfer.is_notice());
  if (small && !near) room_left -= cost;
  rendezvous_.send(transfer, small);
  bury();
}

void Network::recv(Transfer& transfer) {
  rendezvous_.recv(transfer, transfer.only && transfer.size > eager && transfer.peer != me_);
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
  const auto add = [this](Pull::Flow which, int number) {
    if (which == Pull::Flow::flowing) flowing_ += number;
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
  // Otherwise its receiver has asked for the bytes, and gets them.
  if (!rendezvous_.cancel(transfer))
    transfer.state = line(transfer.peer).link.detach(transfer) ? State::done : State::cancelled;
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
  }
  if (!announced_.empty() || !expected_.empty()) ask();
  bury();
  return moved;
}

Fate Network::fate(Peer peer) const {
  if (peer == me_ || !rendezvous_.is_lost(peer)) return Fate::well;
  return line(peer).silent || line(peer).link.unanswered() ? Fate::silent : Fate::ended;
}

std::uint64_t Network::rate(Peer peer) const {
  return line(peer).link.is_open() ? delivery_of(line(peer).link.socket()).rate : 0;
}

void Network::look_for_dead() {
  ticked_ = base::now();
  for (Peer peer = 0; peer < static_cast<Peer>(lines_.size()); ++peer) {
    Line& one = line(peer);
    // Its sender calls, as a rule. But it may have died before that, and without a connection nobody would notice.
    if (std::exchange(one.expected, false)) call(peer);
    if (!one.link.is_open()) continue;
    const bool heard = std::exchange(one.heard, false);
    const Delivery delivery = heard ? Delivery{} : delivery_of(one.link.socket());
    switch (one.pulse.look(delivery, heard, one.link.has_written(), ticked_)) {
      case Pulse::Finding::well:
        break;
      case Pulse::Finding::quiet:
        if (one.link.idle()) post(peer, header_of(Word::beat, {}), {});
        break;
      case Pulse::Finding::lost:
        // It shall not take this end for that of the process, should it hear of it. Inside of a message it cannot.
        one.silent = true;
        if (one.link.idle()) post(peer, header_of(Word::parted, {}), {});
        broken_.push_back(peer);
        break;
    }
  }
}

std::vector<Suspect> Network::suspects() const {
  std::vector<Suspect> found;
  for (Peer peer = 0; peer < static_cast<Peer>(lines_.size()); ++peer) {
    const Line& one = line(peer);
    if (one.link.is_open() && one.pulse.silence(ticked_) > options_.lost_after)
      found.push_back({peer, one.pulse.silence(ticked_)});
  }
  return found;
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
  if (moved && flowing_ > 0) flowed_ = base::now();
  watch(peer);
  return moved;
}

void Network::bury() {
  while (!broken_.empty()) {
    const Peer peer = broken_.back();
    broken_.pop_back();
    lose(peer);
  }
}

void Network::peer_lost(Peer peer) {
  lose(peer);
  bury();
}

void Network::lose(Peer peer) {
  if (peer == me_ || rendezvous_.is_lost(peer)) return;
  Link& link = line(peer).link;
  // What it sent before it ended is taken first.
  while (link.is_open() && link.read(peer, *this, buffer_) && link.moved()) {
  }
  {
    const std::scoped_lock lock(forking_);
    door_.give_up(peer);
    // To close it is not enough where another process has the socket, too: it would stay in the set.
    if (link.is_open()) events_.remove(link.socket());
    link.close([](Transfer& transfer) { transfer.state = State::lost; });
  }
  watch(peer);
  rendezvous_.lose(peer);
}

void Network::forget(std::uint64_t context) {
  rendezvous_.forget(context);
  bury();
}

}  // namespace

std::unique_ptr<Tcp> listen(Options options) { return std::make_unique<Network>(std::move(options)); }

}  // namespace tutti::transport::tcp
