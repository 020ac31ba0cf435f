// SPDX-License-Identifier: BSD-3-Clause
// How the transport finds that peers are lost, and how it ends itself.
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/words.hpp"
#include "transport/tcp/network.hpp"

namespace tutti::transport::tcp {

namespace {

/// Times the patience with a peer, for one that was given up and may be within reach again.
constexpr std::uint64_t seen_off_for = 30;

}  // namespace

/// A child has a copy of every socket, as long as it lives. With it the others would not see the end of this process:
/// the system would go on acknowledging what they send, and let their calls in.
void Network::close_copies() {
  for (Line& one : lines_) one.link.close_copy();
  for (Parting& one : partings_) one.link.close_copy();
  door_.close_copies();
  ticker_.close_copy();
  events_.close_copy();
}

/// The peers whose systems have not got all that was sent. What the system has not been told to have arrived would be
/// lost where unread words of the peer are left: a socket that is closed with those is reset.
std::vector<Peer> Network::awaiting() const {
  std::vector<Peer> found;
  for (Peer peer = 0; peer < static_cast<Peer>(lines_.size()); ++peer) {
    const Line& one = line(peer);
    int left = 0;
    const bool arrived = !one.link.is_open() || ioctl(one.link.socket(), SIOCOUTQ, &left) != 0 || left == 0;
    if (one.loaded || !arrived) found.push_back(peer);
  }
  return found;
}

std::vector<Peer> Network::drain(std::uint64_t nanoseconds) {
  constexpr int longest_nap = 16;  // milliseconds; no event tells that bytes have arrived
  const std::uint64_t until = base::now() + nanoseconds;
  std::vector<Peer> left = awaiting();
  for (int nap = 1; !left.empty() && base::now() < until; left = awaiting()) {
    pollfd something{events_.descriptor(), POLLIN, 0};
    if (progress()) continue;
    poll(&something, 1, nap);
    nap = std::min(2 * nap, longest_nap);
  }
  return left;
}

Fate Network::fate(Peer peer) const {
  if (peer == me_ || !rendezvous_.is_lost(peer)) return Fate::well;
  return line(peer).silent || line(peer).link.unanswered() ? Fate::silent : Fate::ended;
}

std::uint64_t Network::rate(Peer peer) const {
  return line(peer).link.is_open() ? delivery_of(line(peer).link.socket()).rate : 0;
}

std::string Network::suit(std::uint64_t link_rate) {
  std::string said;
  if (link_rate > 0 && link_rate < slow_link) {
    capabilities_.eager = eager_if_slow;
    said = "messages of more than " + std::to_string(eager_if_slow) + " bytes when their receivers ask";
  }
  if (!control_.empty()) base::add_word(said, "congestion control " + control_);
  return said;
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
        one.silent = one.given_up = true;
        broken_.push_back(peer);
        break;
    }
  }
}

/// Until the other end closes them: with a word unread, or to come, the system would break off what is on its way.
void Network::see_off() {
  if (partings_.empty()) return;
  const std::scoped_lock lock(forking_);
  std::erase_if(partings_, [this](Parting& one) {
    return ticked_ > one.until || !one.link.discard(buffer_) || !one.link.write();
  });
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
    const auto end = [](Transfer& transfer) { transfer.state = State::lost; };
    // It shall not take this end for that of the process, should it hear of it.
    if (link.is_open() && line(peer).given_up) {
      link.close_behind(header_of(Word::parted, {}), end);
      partings_.push_back({std::exchange(link, Link()), base::now() + seen_off_for * options_.lost_after});
    }
    link.close(end);
  }
  watch(peer);
  rendezvous_.lose(peer);
}

}  // namespace tutti::transport::tcp
