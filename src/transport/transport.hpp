// SPDX-License-Identifier: BSD-3-Clause
// The contract of a transport: bytes between processes, about ten operations, no types, no collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::transport {

/// A process, by its rank in the world.
using Peer = Rank;

/// Separate streams of one group: collectives, the user's own send and recv, the making of groups, and the mailbox of
/// sparse_exchange.
enum class Lane : std::uint8_t { collective, user, group, mailbox };
inline constexpr std::uint32_t lanes = 4;

/// What a message is. Equal tags between the same two processes match in order; there are no wildcards.
struct Tag {
  std::uint64_t context = 0;   ///< The group: hash of parent context, sequence of the split, colour.
  std::uint64_t sequence = 0;  ///< collective: the operation's number in its group; user: 0.
  std::uint32_t message = 0;   ///< collective: message number in the plan; user: the user's tag; mailbox: see below.
  Lane lane = Lane::collective;
  bool operator==(const Tag&) const = default;

  /// Its receiver does not know who will send: it looks, then receives what there is.
  bool from_anyone() const { return lane == Lane::mailbox && message == mail; }
  /// What goes through a mailbox: messages, and the receivers' words that they have come.
  static constexpr std::uint32_t mail = 0, receipt = 1;
  /// Sequences of mail that is about no exchange, from here on.
  static constexpr std::uint64_t first_notice = std::numeric_limits<std::uint64_t>::max() - 15;
};

/// A message that waits for its receive.
struct Arrival {
  Peer peer = -1;
  std::uint64_t size = 0;
};

/// How far a send or a receive is.
enum class State : std::uint8_t {
  pending,
  done,
  cancelled,
  wrong_size,       ///< The message has another size than the receive; nothing was written.
  wrong_signature,  ///< The message belongs to another operation; nothing was written.
  lost,             ///< The peer is gone.
};

/// One send or receive. The caller owns it and keeps it (and the bytes) in place until `state` is final, or until
/// `cancel` has returned. A transport links it into its own lists through `next` and `link`, and may rename the peer.
struct Transfer {
  Peer peer = -1;
  Tag tag;
  std::uint32_t signature = 0;        ///< Sent along; must be equal at both ends.
  std::uint32_t their_signature = 0;  ///< wrong_signature: what the sender said.
  std::uint64_t their_size = 0;       ///< wrong_size: the size of the message.
  std::byte* data = nullptr;          ///< A send never writes through it.
  std::size_t size = 0;
  State state = State::pending;  ///< Read and written under the lock of the engine that owns the transport.
  bool only = false;             ///< No other message from this sender ever has its tag. Said alike at both ends.
  bool unhurried = false;        ///< Of a notice: no connection is made for it; it goes as soon as there is one.
  bool near = false;             ///< For a transport that is made of two: which of them has it; see mux.hpp.
  Transfer* next = nullptr;
  void* link = nullptr;

  /// Short, rare, and for somebody who may take nothing else any more, from somebody who may not come back: it goes
  /// without asking, however much is on its way already.
  bool is_notice() const { return tag.from_anyone() && tag.sequence >= Tag::first_notice && size <= longest_notice; }
  static constexpr std::size_t longest_notice = 1024;
};

/// What is known of a peer.
enum class Fate : std::uint8_t {
  well,
  silent,  ///< Nothing comes from it, and it may live.
  ended,   ///< Its process is no more, says its system.
};

/// Links of less than so many bits per second are slow: the bytes of a message cost more than all else about it.
inline constexpr std::uint64_t slow_link = 300'000'000;

struct Capabilities {
  std::size_t eager = 0;     ///< Largest message that a send completes without its receiver.
  bool single_copy = false;  ///< Large messages move in one copy.
  std::string why;           ///< Why single copy is or is not there: for `tutti info`.
  std::size_t segment = 0;   ///< Pipelines cut nothing finer; 0: it does not mind, links may.
};

/// Bytes between this process and the others. One thread at a time calls it (the engine's lock).
/// Nothing here but `drain` blocks, throws for a peer's fault, or aborts; a peer's death shows as State::lost.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  virtual const Capabilities& capabilities() const = 0;

  /// Starts sending. May complete at once.
  virtual void send(Transfer& transfer) = 0;
  /// Starts receiving. May complete at once. Size, tag and signature are checked before a byte is copied.
  virtual void recv(Transfer& transfer) = 0;
  /// The first message with this tag, which is from anyone, that waits for a receive. Nothing: there is none now.
  virtual std::optional<Arrival> look(const Tag& tag) = 0;
  /// Takes a pending transfer back: when it returns, nobody reads or writes its bytes any more. The message for a
  /// cancelled receive is dropped when it comes, and its sender done, where it is the `only` one of its tag; another
  /// waits for the next receive, or for `forget`.
  virtual void cancel(Transfer& transfer) = 0;
  /// Moves what can be moved; true when anything moved.
  virtual bool progress() = 0;
  /// The same for who waits and asks again: it may look at a part only, and at the rest when it is asked next.
  virtual bool progress_in_turns() { return progress(); }
  /// Whether something sent to this peer goes without a connection being made first.
  virtual bool connected(Peer) const { return true; }
  /// Makes the connection now, if there has to be one: who only receives would not learn that its peer is gone.
  virtual void call(Peer) {}
  /// Where transfers with this peer end as `lost`: how that came. Of peers whose end somebody else sees: well.
  virtual Fate fate(Peer) const { return Fate::well; }
  /// Of a peer that was lost since no connection with it came about: its addresses, and what each answered. Of others:
  /// nothing.
  virtual std::string unreached(Peer) const { return {}; }
  /// Every transfer with this peer, now and later, ends as `lost`.
  virtual void peer_lost(Peer peer) = 0;
  /// Drops unexpected messages of a group that is gone or broken.
  virtual void forget(std::uint64_t context) = 0;
  /// Bits per second at which what was sent has reached this peer lately, as the system has seen; 0: it cannot say.
  virtual std::uint64_t rate(Peer) const { return 0; }
  /// All links between hosts carry so many bits per second, or more (0: nobody knows): does what suits them. Said
  /// alike by all processes, and before any of them has a message on its way. What was done, for people; empty:
  /// nothing.
  virtual std::string suit(std::uint64_t) { return {}; }
  /// Everything that was sent is out of this process's hands: others get it although it does nothing more.
  virtual bool has_left() const { return true; }
  /// Before the process ends: waits until others will get what was sent, also without this process, or are lost; for so
  /// many nanoseconds at most. Those of whom neither is true then. The one operation that blocks.
  virtual std::vector<Peer> drain(std::uint64_t nanoseconds) {
    static_cast<void>(nanoseconds);
    return {};
  }
};

}  // namespace tutti::transport
