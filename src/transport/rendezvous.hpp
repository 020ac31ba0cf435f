// SPDX-License-Identifier: BSD-3-Clause
// How messages meet their receives where the two share no memory.
//
//     small:            header and bytes at once
//     large:            announce  >  ready  >  the bytes, straight from buffer to buffer, when the receiver says so
//     large, expected:  invite    >  the bytes; the receive was there first, and does not wait to be asked
//
// Invitations are for messages whose tag no other message has: whatever crosses one on its way is the very message,
// announced, or does not fit. What is announced may be `withdrawn` by its sender, `cut_off` in the middle of its bytes,
// and `dropped` by its receiver. A transport that works this way has one of these, and is its channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/header.hpp"
#include "transport/invitations.hpp"
#include "transport/matching.hpp"
#include "transport/names.hpp"
#include "transport/transport.hpp"

namespace tutti::transport {

/// A large message that is wanted, under a name: its place.
struct Pull {
  Transfer* transfer = nullptr;  ///< nullptr: cancelled; its bytes may come all the same, and go nowhere.
  Peer peer = -1;
  std::uint64_t handle = 0, size = 0;  ///< handle: 0 until it is announced
  Tag tag;
  bool asked = false;    ///< Its sender has been told `ready`, or
  bool invited = false;  ///< been invited.
  enum class Flow : std::uint8_t { none, invited, flowing };
  Flow flow = Flow::none;  ///< For the transport.
  std::uint64_t have = 0;  ///< Bytes that have come, where they come in pieces.

  bool announced() const { return handle != 0; }
};

/// What the transport does.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Sends a header and the bytes that follow it; they may be changed afterwards.
  virtual void post(Peer to, const Header& header, std::span<const std::byte> bytes) = 0;
  /// Calls `ask` for it, now or later. Of one that was invited and has not been asked for it hears again when it is
  /// announced.
  virtual void want(std::uint64_t place, const Pull& pull) = 0;
  /// Sends the bytes of a transfer, which is done when they have left, to the place of its receiver.
  virtual void give(Transfer& transfer, std::uint64_t place) = 0;
  /// A receive is cancelled, and its place stays until the bytes have come. False: they have come already.
  virtual bool abandon(std::uint64_t place, const Pull& pull) = 0;
  /// Nothing more comes to this place.
  virtual void over(std::uint64_t place, const Pull& pull) = 0;
  /// So many bytes of a small message take up no memory any more.
  virtual void taken(Peer from, std::uint64_t size) = 0;
};

class Rendezvous {
 public:
  Rendezvous(Channel& channel, std::size_t peers) : channel_(channel), lost_(peers, false) {}

  /// `small`: without asking.
  void send(Transfer& transfer, bool small);
  /// `invite`: it is large, and the only one of its tag.
  void recv(Transfer& transfer, bool invite);
  std::optional<Arrival> look(const Tag& tag) { return matching_.look(tag); }
  /// False: its bytes are leaving already, which is the transport's matter.
  bool cancel(Transfer& transfer);
  /// A header has come, with the bytes that follow it. False: it means nothing here.
  bool hear(Peer from, const Header& header, const std::byte* bytes);
  /// Tells the sender that its bytes may come.
  void ask(std::uint64_t place);
  /// nullptr when nothing is expected there.
  Pull* find(std::uint64_t place) { return pulls_.find(place); }
  /// All bytes have come to this place, or none will.
  void finish(std::uint64_t place, State state = State::done);
  /// Every transfer with this peer ends.
  void lose(Peer peer);
  bool is_lost(Peer peer) const { return lost_[static_cast<std::size_t>(peer)]; }
  void forget(std::uint64_t context);

 private:
  void post(Peer to, const Header& header, std::span<const std::byte> bytes = {});
  void post(Word word, Peer to, const Tag& tag, std::uint64_t handle);
  void arrive(Peer from, const Header& header, const std::byte* bytes);
  void complete(Transfer& receive, Message& message);
  void pull(Transfer& receive, std::uint64_t handle);
  void discard(Message& message);
  void recycle(Message& message);
  void give(Peer to, const Header& header);
  void answer(const Invitation& invitation);
  void give_announced(Transfer& transfer, std::uint64_t place);
  void uninvite(Transfer& receive);
  void close(std::uint64_t place);
  void dropped(Peer from, std::uint64_t handle);
  void withdraw(Peer from, const Header& header);
  bool cut_off(Peer from, std::uint64_t place);

  Channel& channel_;
  Matching matching_;
  Names<Transfer*> announced_;
  Names<Pull> pulls_;
  Invitations invitations_;
  std::vector<bool> lost_;
};

}  // namespace tutti::transport
