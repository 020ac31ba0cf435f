// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/tcp.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/matching.hpp"
#include "transport/names.hpp"
#include "transport/tcp/door.hpp"
#include "transport/tcp/events.hpp"
#include "transport/tcp/link.hpp"
#include "transport/tcp/pulse.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

namespace {

/// Bytes of small messages that a peer may send before the receiver has taken them; others are announced. A receiver
/// that is far behind keeps so much for each peer, and no more.
constexpr std::uint64_t room = 256 << 10, told_at = room / 4;
constexpr std::uint64_t longest_tick = 100'000'000;  // nanoseconds
/// A flow of which nothing has come for so long does not keep others from theirs: its sender may compute.
constexpr std::uint64_t stalled = 5'000'000;
constexpr std::uint64_t door_event = ~std::uint64_t{0}, tick_event = door_event - 1;

class Network final : public Tcp, private Hearer {
 public:
  explicit Network(Options options);

  std::string_view name() const override { return "tcp"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::string addresses() const override { return door_.addresses(); }
  int descriptor() const override { return events_.descriptor(); }
  void call(Peer peer) override;
  bool connected(Peer peer) const override { return peer == me_ || line(peer).link.is_open(); }
  bool drained() const override;
  void drain(std::uint64_t nanoseconds) override;
  std::vector<Suspect> suspects() const override;

  void send(Transfer& transfer) override;
  void recv(Transfer& transfer) override;
  std::optional<Arrival> look(const Tag& tag) override { return matching_.look(tag); }
  void cancel(Transfer& transfer) override;
  bool progress() override;
  void peer_lost(Peer peer) override;
  void forget(std::uint64_t context) override;

 private:
  struct Line {
    Link link;
    std::uint64_t room = tcp::room;  ///< What the peer takes of small messages.
    std::uint64_t owed = 0;          ///< What this one has taken and not told.
    bool lost = false, called = false, full = false;
    bool heard = false;  ///< since the last tick
    Pulse pulse;
  };
  /// A large message that is wanted.
  struct Pull {
    Transfer* transfer = nullptr;  ///< nullptr: cancelled; its bytes come all the same, and go nowhere.
    Peer peer = -1;
    std::uint64_t handle = 0, size = 0;
    Tag tag;
    bool asked = false;
  };

  Line& line(Peer peer) { return lines_[static_cast<std::size_t>(peer)]; }
  const Line& line(Peer peer) const { return lines_[static_cast<std::size_t>(peer)]; }

  bool hear(Peer from, const Header& header, const std::byte* bytes) override;
  bool expects(Peer from, const Header& header) override;
  std::byte* place(const Header& header) override;
  void finished(const Header& header) override;

  void put(Peer to, const Header& header, std::span<const std::byte> bytes = {}, Transfer* owner = nullptr);
  void arrive(Peer from, const Header& header, const std::byte* bytes);
  void complete(Transfer& receive, Message& message);
  void discard(Message& message);
  void taken(Message& message);
  void ask();
  void give(Peer to, const Header& header);
  void withdraw(Peer from, const Header& header);
  void enter(Peer peer, base::Descriptor socket);
  void serve(Peer peer, std::uint32_t events);
  void watch(Peer peer);
  void look_for_dead();
  void bury();
  void lose(Peer peer);

  Peer me_;
  Options options_;
  Capabilities capabilities_;
  Events events_;
  Ticker ticker_;
  Door door_;
  std::vector<Line> lines_;
  std::vector<Peer> broken_;  // whose connections have ended; they are lost when nobody is inside them
  Matching matching_;
  Names<Transfer*> announced_;
  Names<Pull> pulls_;
  std::deque<std::uint64_t> waiting_;  // pulls that have not been asked for, in order
  int flowing_ = 0;
  std::uint64_t flowed_ = 0, ticked_ = 0;
  std::vector<std::byte> buffer_;
};

Network::Network(Options options)
    : me_(options.identity.rank),
      options_(std::move(options)),
      ticker_(std::clamp<std::uint64_t>(options_.lost_after / 10, 1, longest_tick)),
      door_(options_.identity, options_.patience,
            {.wants = [this](Peer peer) { return !line(peer).lost && !line(peer).link.is_open(); },
             .enter = [this](Peer peer, base::Descriptor socket) { enter(peer, std::move(socket)); },
             .fail = [this](Peer peer) { broken_.push_back(peer); }}),
      lines_(static_cast<std::size_t>(options_.identity.size)),
      buffer_(64 << 10) {
  for (const std::string& address : options_.listen) door_.listen(address);
  events_.add(door_.descriptor(), EPOLLIN, door_event);
  events_.add(ticker_.descriptor(), EPOLLIN, tick_event);
  capabilities_ = {eager, false, "messages go through sockets"};
}

void Network::call(Peer peer) {
  if (peer == me_ || std::exchange(line(peer).called, true)) return;
  if (!line(peer).link.is_open()) door_.call(peer, options_.find(peer));
}

void Network::enter(Peer peer, base::Descriptor socket) {
  Line& one = line(peer);
  events_.add(socket.get(), EPOLLIN, static_cast<std::uint64_t>(peer));
  repeat_within(socket.get(), options_.lost_after);
  one.called = true;
  one.pulse.begin(options_.lost_after, base::now());
  one.link.open(std::move(socket));
  if (!one.link.write()) broken_.push_back(peer);
  watch(peer);
}

/// Asks to be told when the connection takes more, while there is more.
void Network::watch(Peer peer) {
  Line& one = line(peer);
  if (!one.link.is_open() || one.full == !one.link.idle()) return;
  one.full = !one.full;
  events_.change(one.link.socket(), one.full ? EPOLLIN | EPOLLOUT : EPOLLIN, static_cast<std::uint64_t>(peer));
}

bool Network::drained() const {
  return std::ranges::all_of(lines_, [](const Line& one) { return one.lost || one.link.idle(); });
}

/// What the system has not been told to have arrived would be lost where unread words of the peer are left: a socket
/// that is closed with those is reset.
void Network::drain(std::uint64_t nanoseconds) {
  const std::uint64_t until = base::now() + nanoseconds;
  const auto arrived = [](const Line& one) {
    int left = 0;
    return one.lost || !one.link.is_open() || ioctl(one.link.socket(), SIOCOUTQ, &left) != 0 || left == 0;
  };
  while (base::now() < until && !(drained() && std::ranges::all_of(lines_, arrived))) {
    pollfd something{events_.descriptor(), POLLIN, 0};
    if (!progress()) poll(&something, 1, 1);
  }
}

void Network::put(Peer to, const Header& header, std::span<const std::byte> bytes, Transfer* owner) {
  if (to == me_) {
    hear(me_, header, bytes.data());
    return;
  }
  Line& one = line(to);
  if (one.lost) {
    if (owner != nullptr) owner->state = State::lost;
    return;
  }
  call(to);
  if (!one.link.put(header, bytes, owner)) broken_.push_back(to);
  watch(to);
}

void Network::send(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  Line& one = line(transfer.peer);
  if (one.lost) {
    transfer.state = State::lost;
    return;
  }
  const std::uint64_t cost = transfer.size + sizeof(Header);
  const bool small = transfer.size <= eager && (cost <= one.room || transfer.peer == me_);
  Header header = header_of(small ? Word::bytes : Word::announce, transfer.tag);
  header.size = transfer.size;
  header.signature = transfer.signature;
  if (small) {
    if (transfer.peer != me_) one.room -= cost;
    transfer.state = State::done;
    put(transfer.peer, header, {transfer.data, transfer.size});
  } else {
    header.handle = announced_.add(&transfer);
    transfer.link = as_link(header.handle);
    put(transfer.peer, header);
  }
  bury();
}

void Network::recv(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  if (Message* message = matching_.expect(transfer)) {
    complete(transfer, *message);
  } else if (line(transfer.peer).lost) {
    matching_.withdraw(transfer);
    transfer.state = State::lost;
  }
  bury();
}

bool Network::hear(Peer from, const Header& header, const std::byte* bytes) {
  switch (header.word) {
    case Word::bytes:
    case Word::announce:
      arrive(from, header, bytes);
      return true;
    case Word::ready:
      give(from, header);
      return true;
    case Word::dropped:
      if (Transfer** found = announced_.find(header.handle); found != nullptr && (*found)->peer == from) {
        (*found)->state = State::done;
        announced_.remove(header.handle);
      }
      return true;
    case Word::withdrawn:
      withdraw(from, header);
      return true;
    case Word::credit:
      line(from).room = std::min(room, line(from).room + std::min(header.size, room));
      return true;
    case Word::beat:
      return true;
    case Word::data:
      break;
  }
  return false;
}

void Network::arrive(Peer from, const Header& header, const std::byte* bytes) {
  Message& message = matching_.obtain();
  message.peer = from;
  message.tag = header.tag();
  message.signature = header.signature;
  message.size = header.size;
  message.announced = header.word == Word::announce;
  message.handle = header.handle;
  if (!message.announced) message.bytes.assign(bytes, bytes + header.size);
  if (Transfer* receive = matching_.find(from, message.tag))
    complete(*receive, message);
  else if (!matching_.keep(message))
    discard(message);
}

void Network::complete(Transfer& receive, Message& message) {
  if (!accepts(receive, message.size, message.signature)) return discard(message);
  if (!message.announced) {
    if (message.size != 0) std::memcpy(receive.data, message.bytes.data(), static_cast<std::size_t>(message.size));
    receive.state = State::done;
    return taken(message);
  }
  const std::uint64_t place = pulls_.add(
      {.transfer = &receive, .peer = message.peer, .handle = message.handle, .size = message.size, .tag = message.tag});
  receive.link = as_link(place);
  waiting_.push_back(place);
  matching_.recycle(message);
  ask();
}

void Network::discard(Message& message) {
  if (message.announced) {
    Header header = header_of(Word::dropped, message.tag);
    header.handle = message.handle;
    put(message.peer, header);
  }
  taken(message);
}

/// A message is no longer here: its sender may send others in its place.
void Network::taken(Message& message) {
  Line& one = line(message.peer);
  if (!message.announced && message.peer != me_) one.owed += message.size + sizeof(Header);
  const bool tell = one.owed >= told_at;
  Header header = header_of(Word::credit, {});
  if (tell) header.size = std::exchange(one.owed, 0);
  const Peer peer = message.peer;
  matching_.recycle(message);
  if (tell) put(peer, header);
}

/// Lets the next large messages come, as long as there are few.
void Network::ask() {
  while (!waiting_.empty()) {
    const bool late = flowing_ >= options_.flows && base::now() - flowed_ > stalled;
    if (flowing_ >= options_.flows && !late) return;
    const std::uint64_t place = waiting_.front();
    waiting_.pop_front();
    Pull* const pull = pulls_.find(place);
    if (pull == nullptr) continue;
    pull->asked = true;
    ++flowing_;
    flowed_ = base::now();
    Header header = header_of(Word::ready, pull->tag);
    header.handle = pull->handle;
    header.place = place;
    put(pull->peer, header);
  }
}

/// The receiver is ready: the bytes go. Of one that was cancelled it has been told, or will be.
void Network::give(Peer to, const Header& header) {
  Transfer** const found = announced_.find(header.handle);
  if (found == nullptr || (*found)->peer != to) return;
  Transfer& transfer = **found;
  announced_.remove(header.handle);
  transfer.link = nullptr;
  if (to == me_) {
    if (Pull* const pull = pulls_.find(header.place)) {
      if (pull->transfer != nullptr && transfer.size > 0)
        std::memcpy(pull->transfer->data, transfer.data, transfer.size);
      transfer.state = State::done;
      finished(header);
    }
    return;
  }
  Header data = header_of(Word::data, transfer.tag);
  data.place = header.place;
  data.size = transfer.size;
  put(to, data, {transfer.data, transfer.size}, &transfer);
}

bool Network::expects(Peer from, const Header& header) {
  const Pull* const pull = pulls_.find(header.place);
  return pull != nullptr && pull->peer == from && pull->asked && pull->size == header.size;
}

std::byte* Network::place(const Header& header) {
  const Pull* const pull = pulls_.find(header.place);
  return pull == nullptr || pull->transfer == nullptr ? nullptr : pull->transfer->data;
}

void Network::finished(const Header& header) {
  Pull* const pull = pulls_.find(header.place);
  if (pull == nullptr) return;
  if (pull->transfer != nullptr) pull->transfer->state = State::done;
  pulls_.remove(header.place);
  --flowing_;
  ask();
}

/// The sender has cancelled what it announced. A receive that waits for its bytes waits for the next message instead.
void Network::withdraw(Peer from, const Header& header) {
  if (Message* message = matching_.retract(from, header.tag(), header.handle)) return matching_.recycle(*message);
  std::uint64_t place = 0;
  Pull found;
  pulls_.for_each([&](std::uint64_t name, const Pull& pull) {
    if (pull.peer != from || pull.handle != header.handle) return;
    place = name;
    found = pull;
  });
  if (place == 0) return;
  pulls_.remove(place);
  if (found.asked) --flowing_;
  if (found.transfer != nullptr) {
    found.transfer->link = nullptr;
    if (Message* message = matching_.expect_again(*found.transfer)) complete(*found.transfer, *message);
  }
  ask();
}

void Network::cancel(Transfer& transfer) {
  if (transfer.state != State::pending) return;
  transfer.state = State::cancelled;
  const std::uint64_t handle = as_name(transfer);
  if (Transfer** found = announced_.find(handle); found != nullptr && *found == &transfer) {
    announced_.remove(handle);
    Header header = header_of(Word::withdrawn, transfer.tag);
    header.handle = handle;
    put(transfer.peer, header);
  } else if (Pull* pull = pulls_.find(handle); pull != nullptr && pull->transfer == &transfer) {
    pull->transfer = nullptr;
  } else if (!matching_.withdraw(transfer) && line(transfer.peer).link.detach(transfer)) {
    transfer.state = State::done;  // its receiver has asked for the bytes, and gets them
  }
  bury();
}

bool Network::progress() {
  bool moved = false, tick = false;
  for (const epoll_event& event : events_.look()) {
    if (event.data.u64 == door_event) {
      moved = door_.progress() || moved;
    } else if (event.data.u64 == tick_event) {
      tick = true;  // what has come meanwhile is heard first
    } else {
      serve(static_cast<Peer>(event.data.u64), event.events);
      moved = true;
    }
  }
  if (tick) {
    ticker_.take();
    moved = door_.progress() || moved;
    look_for_dead();
  }
  if (!waiting_.empty()) ask();
  bury();
  return moved;
}

void Network::look_for_dead() {
  ticked_ = base::now();
  for (Peer peer = 0; peer < static_cast<Peer>(lines_.size()); ++peer) {
    Line& one = line(peer);
    if (!one.link.is_open()) continue;
    const bool heard = std::exchange(one.heard, false);
    const Delivery delivery = heard ? Delivery{} : delivery_of(one.link.socket());
    switch (one.pulse.look(delivery, heard, one.link.has_written(), ticked_)) {
      case Pulse::Finding::well:
        break;
      case Pulse::Finding::quiet:
        if (one.link.idle()) put(peer, header_of(Word::beat, {}));
        break;
      case Pulse::Finding::lost:
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

void Network::serve(Peer peer, std::uint32_t events) {
  Line& one = line(peer);
  if (!one.link.is_open()) return;
  if ((events & EPOLLOUT) != 0 && !one.link.write()) broken_.push_back(peer);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !one.link.read(peer, *this, buffer_)) broken_.push_back(peer);
  if (one.link.moved()) {
    one.heard = true;
    if (flowing_ > 0) flowed_ = base::now();
  }
  watch(peer);
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
  Line& one = line(peer);
  if (peer == me_ || one.lost) return;
  // What it sent before it ended is taken first.
  while (one.link.is_open() && one.link.read(peer, *this, buffer_) && one.link.moved()) {
  }
  one.lost = true;
  door_.give_up(peer);
  one.link.close([](Transfer& transfer) { transfer.state = State::lost; });
  matching_.lose(peer, [this](Message& message) { matching_.recycle(message); });
  announced_.for_each([&](std::uint64_t handle, Transfer* transfer) {
    if (transfer->peer != peer) return;
    transfer->state = State::lost;
    announced_.remove(handle);
  });
  pulls_.for_each([&](std::uint64_t name, const Pull& pull) {
    if (pull.peer != peer) return;
    if (pull.transfer != nullptr) pull.transfer->state = State::lost;
    if (pull.asked) --flowing_;
    pulls_.remove(name);
  });
  ask();
}

void Network::forget(std::uint64_t context) {
  matching_.forget(context, [this](Message& message) { discard(message); });
  bury();
}

}  // namespace

std::unique_ptr<Tcp> listen(Options options) { return std::make_unique<Network>(std::move(options)); }

}  // namespace tutti::transport::tcp
