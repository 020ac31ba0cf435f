// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of shm: reads the rings, matches, and fetches large messages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/segment.hpp"
#include "transport/matching.hpp"
#include "transport/names.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/sender.hpp"

namespace tutti::transport::shm {

class Receiver {
 public:
  /// `piece`: bytes of a large message read at a time; `single_copy`: whether other processes' memory may be read.
  Receiver(host::Segment& segment, Rank self, Sender& sender, std::size_t piece, bool single_copy,
           const std::function<void(Peer)>& wake);

  void recv(Transfer& transfer);
  std::optional<Arrival> look(const Tag& tag) { return matching_.look(tag); }
  void cancel(Transfer& transfer);
  /// Reads the rings that have something and one piece of each large message under way; true when anything moved.
  bool progress();
  /// Reads what the peer left in its ring, then ends everything with it.
  void lose(Peer peer, bool read_ring);
  void forget(std::uint64_t context);
  /// Peers whose ring holds what cannot be. The caller declares them lost and empties the list.
  std::vector<Peer>& corrupt() { return corrupt_; }

 private:
  /// A large message that has its receive and is on its way.
  struct Fetch {
    Transfer* receive = nullptr;
    Peer peer = -1;
    std::uint32_t slot = 0;
    bool streaming = false;     // comes in fragments; else it is read
    std::uint64_t handle = 0;   // the sender's name
    std::uint64_t address = 0;  // where the sender's bytes lie
    std::uint64_t offset = 0;   // bytes that are here
  };
  struct Line {
    std::optional<Consumer> ring;
    bool lost = false;
  };

  Line& line(Peer peer);
  bool look_at_rings();
  bool drain(Peer peer);
  bool dispatch(Peer peer, Consumer& ring, const Record& record);
  void on_eager(Peer peer, Consumer& ring, const Record& record);
  bool on_announce(Peer peer, const Record& record);
  bool on_fragment(Peer peer, Consumer& ring, const Record& record);
  void on_withdraw(Peer peer, const Record& record);
  void on_abort(Peer peer, const Record& record);

  void match(Transfer& receive, Message* message);
  void start(Transfer& receive, const Message& message);
  bool fetch_pieces();
  void fetch_piece(std::uint64_t name);
  int copy_lent(host::Offset from, std::span<std::byte> to);
  void fetched(std::uint64_t name);
  void could_not_read(std::uint64_t name, int error);
  void ask_for_fragments(std::uint64_t name);
  bool change_offer(Peer peer, std::uint32_t slot, std::uint64_t handle, Offer offer);
  bool is_withdrawn(Peer peer, std::uint32_t slot, std::uint64_t handle);
  void post_again(std::uint64_t name);
  void end(std::uint64_t name, State state);
  void finish(Peer peer, std::uint64_t handle);
  void discard(Message& message);

  host::Segment& segment_;
  Rank self_;
  Sender& sender_;
  std::size_t piece_;
  bool single_copy_;
  const std::function<void(Peer)>& wake_;
  host::Incoming& incoming_;
  std::vector<Line> lines_;
  Matching matching_;
  Names<Fetch> fetches_;
  std::vector<std::uint64_t> reading_, turn_;  // names of fetches that are read; turn_ is kept for its memory
  std::vector<Peer> corrupt_;
};

}  // namespace tutti::transport::shm
