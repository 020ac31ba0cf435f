// SPDX-License-Identifier: BSD-3-Clause
// One peer's connection: what is still to be sent, and what has come of a header and its bytes.
//
// Large messages leave in pieces, each with a header, and whatever else is to be said goes between them: a word that
// lets the other end send must not wait for all that this end sends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/tcp/compression.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

/// Who hears what comes.
class Hearer {
 public:
  virtual ~Hearer() = default;
  /// A header has come whole, with its bytes if it is a small message. False: it makes no sense.
  virtual bool hear(Peer from, const Header& header, const std::byte* bytes) = 0;
  /// A piece of a large message comes: whether anybody expects it.
  virtual bool expects(Peer from, const Header& header) = 0;
  /// Where it goes; nullptr when nobody wants it any more. Asked for before each part of it.
  virtual std::byte* place(const Header& header) = 0;
  /// All of it is there. True: there will be another one.
  virtual bool finished(const Header& header) = 0;
};

class Link {
 public:
  /// Before it is open, what is put waits.
  void open(base::Descriptor socket) { socket_ = std::move(socket); }
  bool is_open() const { return static_cast<bool>(socket_); }
  int socket() const { return socket_.get(); }

  /// Sends a header, and the bytes that follow, which are copied if they cannot leave at once. False: the connection
  /// has ended.
  bool put(const Header& header, std::span<const std::byte> bytes);
  /// Sends a large message to this place. It stays where it is: its state is done when it has left.
  bool put_large(std::uint64_t place, Transfer& owner);
  /// How a transfer ends that is taken back. all: its last piece is on its way, and what of it has not left is kept.
  /// cut: what is in no piece yet does not go, which the receiver has to be told. none: it is not here.
  struct Detached {
    enum class Rest : std::uint8_t { none, all, cut } rest = Rest::none;
    std::uint64_t place = 0;  ///< cut: at the receiver.
  };
  Detached detach(const Transfer& transfer);
  /// Everything has left.
  bool idle() const { return queue_.empty() && large_.empty(); }
  /// Sends what the connection takes. False: it has ended.
  bool write();
  /// Takes what has come, through `buffer`. False: it has ended, or means nothing.
  bool read(Peer from, Hearer& hearer, std::span<std::byte> buffer);
  /// Something has been read since this was last asked.
  bool moved() { return std::exchange(moved_, false); }
  /// Something has left since this was last asked.
  bool has_written() { return std::exchange(written_, false); }
  /// It has ended for want of answers, and not by the other end.
  bool unanswered() const { return unanswered_; }
  /// Calls visit(transfer) for each whose bytes are still to leave, and forgets everything.
  template <class Visit>
  void close(Visit visit) {
    for_each_owner(visit);
    queue_.clear();
    large_.clear();
    socket_.reset();
  }
  /// As close, but what the connection has begun to take stays to be written, of it alone, and this behind it.
  template <class Visit>
  void close_behind(const Header& last, Visit visit) {
    for_each_owner(visit);
    large_.clear();
    for (Packet& packet : queue_) packet.keep();
    put(last, {});
  }
  /// Takes what has come, for nobody. False: the connection has ended.
  bool discard(std::span<std::byte> buffer);
  /// In a forked child: the parent's connection stays as it is, and nothing is forgotten.
  void close_copy() { socket_.reset(); }

 private:
  struct Packet {
    Compressed header;
    std::vector<std::byte> copy;
    const std::byte* bytes = nullptr;
    std::size_t size = 0, sent = 0;  ///< sent: of header and bytes together
    Transfer* owner = nullptr;       ///< A piece's.
    bool last = false;               ///< It is the last piece.

    bool has_left() const { return sent == header.size + size; }
    /// Its owner may have its bytes back.
    void keep() {
      if (owner == nullptr) return;
      copy.assign(bytes, bytes + size);
      bytes = copy.data();
      owner = nullptr;
    }
  };
  /// What of a large message has not been cut into pieces.
  struct Large {
    Header header;
    const std::byte* bytes = nullptr;
    std::size_t size = 0;
    Transfer* owner = nullptr;
  };

  template <class Visit>
  void for_each_owner(Visit visit) {
    for (const Packet& packet : queue_)
      if (packet.owner != nullptr && packet.last) visit(*packet.owner);
    for (const Large& one : large_)
      if (one.owner != nullptr) visit(*one.owner);
  }
  /// Notes why the system refused; false.
  bool failed();
  bool cut();
  bool send_queue();
  enum class Got { some, nothing, end };
  Got receive(std::span<std::byte> to, std::size_t& count);
  bool take(Peer from, Hearer& hearer, std::span<const std::byte> bytes);
  bool take_some(Peer from, Hearer& hearer, std::span<const std::byte>& bytes);
  bool take_header(Peer from, Hearer& hearer, std::span<const std::byte>& bytes);
  bool begin(Peer from, Hearer& hearer);
  void end(Hearer& hearer);

  base::Descriptor socket_;
  std::deque<Packet> queue_;  ///< In order; at most one piece of a large message.
  std::deque<Large> large_;
  Compressor compressor_;
  Expander expander_;
  std::array<std::byte, longest_header> compressed_;
  std::size_t compressed_have_ = 0;  ///< of the next header's bytes
  Header header_;
  bool begun_ = false;            ///< The header is whole; what follows it comes.
  std::uint64_t have_ = 0;        ///< of what follows
  std::vector<std::byte> small_;  ///< of a small message that comes in parts
  bool more_ = false;             ///< Of the last large message another piece comes.
  bool moved_ = false, written_ = false;
  bool unanswered_ = false;
};

}  // namespace tutti::transport::tcp
