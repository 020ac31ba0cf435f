// SPDX-License-Identifier: BSD-3-Clause
// The sending half of shm: queues what does not fit, announces large messages, sends fragments where asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "host/segment.hpp"
#include "transport/names.hpp"
#include "transport/shm/ring.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::shm {

class Sender {
 public:
  Sender(host::Segment& segment, Rank self, std::size_t eager, const std::function<void(Peer)>& wake);

  void send(Transfer& transfer);
  /// False when it is not a transfer of this half.
  bool cancel(Transfer& transfer);
  /// Queues a record that the receiving half sends; it goes ahead of messages. `flush` sends it.
  void control(Peer peer, const Record& record);
  /// Sends what fits, to everybody who waits; true when anything went.
  bool flush();
  /// Ends large messages that their receivers have read. Usually `finish` says so; but a receiver whose ring was full
  /// may have left before it could say it.
  bool collect();

  /// Records from the peer. False: it says what cannot be.
  bool on_go(Peer peer, const Record& record);
  bool on_finish(Peer peer, const Record& record);

  void lose(Peer peer);
  /// Peers whose index was impossible. The caller declares them lost and empties the list.
  std::vector<Peer>& corrupt() { return corrupt_; }

 private:
  /// A large message that was announced and is not over. Without a transfer: cancelled, or collected.
  struct Announced {
    Transfer* transfer = nullptr;
    Peer peer = -1;
    std::uint32_t slot = no_offer;
    bool streaming = false;
    std::uint64_t their_name = 0;  // streaming: the receiver's name
    std::uint64_t offset = 0;      // streaming: bytes sent
  };
  /// What goes to one peer.
  struct Line {
    std::optional<Producer> ring;
    std::atomic<std::uint64_t>* incoming = nullptr;  // the word of the peer's bitmap with this process's bit
    Transfer* first = nullptr;                       // messages that did not fit yet, in order
    Transfer* last = nullptr;
    std::vector<Record> controls;
    std::deque<std::uint64_t> streams;  // names of messages that go in fragments
    std::vector<std::uint32_t> slots;   // free ones
    bool waits = false;                 // is in waiting_
    bool lost = false;
  };

  Line& line(Peer peer);
  void wait_for_room(Peer peer);
  bool goes_at_once(Line& line, const Transfer& transfer) const;
  bool put(Line& line, Transfer& transfer);
  std::uint32_t take_slot(Line& line);
  bool flush(Peer peer);
  std::size_t put_waiting(Line& line);
  bool put_fragment(Line& line);
  bool publish(Peer peer, Line& line);
  bool unqueue(Line& line, const Transfer& transfer);
  void end(std::uint64_t name, Announced& announced);
  void stop(std::uint64_t name, Announced& announced);

  host::Segment& segment_;
  Rank self_;
  std::size_t eager_;
  const std::function<void(Peer)>& wake_;
  std::vector<Line> lines_;
  std::vector<Peer> waiting_, retry_;  // peers with something queued; retry_ is kept for its memory
  Names<Announced> announced_;
  std::vector<std::uint64_t> offered_;  // names of those with an offer, until `collect` sees that they need no look
  std::vector<Peer> corrupt_;
};

}  // namespace tutti::transport::shm
