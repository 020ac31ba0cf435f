// SPDX-License-Identifier: BSD-3-Clause
// The transport: its peers' lines, and what of large messages is on its way. Messages: tcp.cpp. Deaths and ends:
// life.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/forks.hpp"
#include "transport/rendezvous.hpp"
#include "transport/tcp/door.hpp"
#include "transport/tcp/events.hpp"
#include "transport/tcp/link.hpp"
#include "transport/tcp/pulse.hpp"
#include "transport/tcp/tcp.hpp"

namespace tutti::transport::tcp {

/// Bytes of small messages that a peer may send before the receiver has taken them; others are announced. A receiver
/// that is far behind keeps so much for each peer, and no more.
inline constexpr std::int64_t room = 256 << 10;
/// Times in a row that the awaited peer alone is served.
inline constexpr int most_in_a_row = 16;

/// Nanoseconds that the way to a peer in the same cluster and back takes at most; those between clusters take longer.
inline constexpr std::uint64_t short_way = 5'000'000;

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
  std::string unreached(Peer peer) const override { return line(peer).unreached; }
  std::uint64_t rate(Peer peer) const override;
  std::string suit(std::uint64_t link_rate) override;
  bool has_left() const override { return loaded_ == 0; }
  std::vector<Peer> drain(std::uint64_t nanoseconds) override;
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
    int flowing = 0;                ///< Large messages that it was asked for.
    bool called = false;
    bool hurried = false;   ///< Something was sent that is not to wait until there happens to be a connection.
    bool loaded = false;    ///< Something is left that its connection has not taken.
    bool expected = false;  ///< Something is to come from a peer that has not called, nor been called.
    bool heard = false;     ///< since the last tick
    bool silent = false;    ///< It was lost, or has lost this one, for want of answers.
    bool given_up = false;  ///< It was lost for want of answers, and shall hear so.
    Pulse pulse;
    Address from;           ///< Of the other end, once it is connected.
    std::string unreached;  ///< What its addresses answered, of a peer that could not be reached.
  };
  /// A connection with a peer that was given up: what is still to leave, and until when it may.
  struct Parting {
    Link link;
    std::uint64_t until;
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

  void leave_for_later(Transfer& transfer);
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
  void see_off();
  void bury();
  void lose(Peer peer);
  void close_copies();
  std::vector<Peer> awaiting() const;

  Peer me_;
  Options options_;
  Capabilities capabilities_;
  Events events_;
  Ticker ticker_;
  Door door_;
  std::vector<Line> lines_;
  std::vector<Parting> partings_;
  std::vector<Peer> broken_;  // whose connections have ended; they are lost when nobody is inside them
  Rendezvous rendezvous_;
  std::deque<std::uint64_t> announced_, expected_;  // places that have not been asked for, in order
  int flowing_ = 0, invited_ = 0;
  int loaded_ = 0;     // lines that are
  Peer awaited_ = -1;  // whose message was asked for last
  int in_a_row_ = 0;   // times that it alone was served; as many as there may be once it was in vain
  std::uint64_t flowed_ = 0, ticked_ = 0;
  std::string control_;  // that of congestion, where it is not the system's own
  std::vector<std::byte> buffer_;
  std::mutex forking_;  // held by who forks, and by who opens sockets or closes them
  const base::AtFork at_fork_{[this] { forking_.lock(); },
                              [this](bool in_child) {
                                if (in_child) close_copies();
                                forking_.unlock();
                              }};
};

}  // namespace tutti::transport::tcp
