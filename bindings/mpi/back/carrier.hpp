// SPDX-License-Identifier: BSD-3-Clause
// The MPI's point-to-point as a transport: for groups whose ranks are on several hosts.
//
//     small:  header and bytes in one message
//     large:  announcement  >  ready  >  bytes, straight from buffer to buffer
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "abi.hpp"
#include "transport/matching.hpp"
#include "transport/names.hpp"
#include "transport/transport.hpp"

namespace tutti::mpi {

class Carrier final : public transport::Transport {
 public:
  /// Collective: its messages go through a duplicate of this communicator, whose ranks are the peers. Throws Error
  /// (system).
  explicit Carrier(MPI_Comm over);
  /// Collective, while the MPI works: nothing can be sent any more.
  void close();

  std::string_view name() const override { return "mpi"; }
  const transport::Capabilities& capabilities() const override { return capabilities_; }
  void send(transport::Transfer& transfer) override;
  void recv(transport::Transfer& transfer) override;
  std::optional<transport::Arrival> look(const transport::Tag& tag) override { return matching_.look(tag); }
  void cancel(transport::Transfer& transfer) override;
  bool progress() override;
  void peer_lost(transport::Peer peer) override;
  void forget(std::uint64_t context) override;

 private:
  enum class Word : std::uint32_t {
    bytes,      ///< The message itself follows.
    announce,   ///< It is large; `handle` is the sender's name for it.
    ready,      ///< To the sender of `handle`: its bytes are awaited under the MPI's tag `place`.
    dropped,    ///< To the sender of `handle`: nobody wants them.
    withdrawn,  ///< What was announced as `handle` does not come.
  };
  struct Header {
    transport::Tag tag;
    std::uint64_t size = 0, handle = 0;
    std::uint32_t signature = 0;
    std::int32_t place = 0;
    Word word = Word::bytes;
  };
  /// What the MPI still reads: a header, and what follows it.
  struct Packet {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  /// The bytes of a large message, on their way.
  struct Moving {
    transport::Transfer* transfer = nullptr;  ///< nullptr: cancelled; they come all the same, into `unwanted`.
    transport::Peer peer = -1;
    std::uint64_t handle = 0;  ///< A receive's: the sender's name for it,
    std::int32_t place = 0;    ///< and the MPI's tag.
    std::vector<MPI_Request> requests{};
    std::vector<std::byte> unwanted{};
  };

  bool is_lost(transport::Peer peer) const { return lost_[static_cast<std::size_t>(peer)]; }
  void post(transport::Peer to, const Header& header, const std::byte* bytes = nullptr);
  bool take_messages();
  void hear(transport::Peer from, const std::vector<std::byte>& packet);
  void arrive(transport::Peer from, const Header& header, const std::byte* bytes);
  void complete(transport::Transfer& receive, transport::Message& message);
  void discard(transport::Message& message);
  void give(const Header& header, transport::Peer to);
  void withdraw(const Header& header, transport::Peer from);
  bool end_packets();
  static bool end(std::vector<Moving>& moving);
  bool abandon(Moving& one);

  MPI_Comm comm_ = MPI_COMM_NULL;
  transport::Capabilities capabilities_;
  transport::Matching matching_;
  transport::Names<transport::Transfer*> announced_;
  std::vector<Packet> packets_;
  std::vector<std::vector<std::byte>> spare_;  ///< Packets' memory, for the next ones.
  std::vector<Moving> leaving_, coming_;
  std::vector<std::byte> heard_;
  std::vector<bool> lost_;
  std::int32_t next_place_ = 0;
};

}  // namespace tutti::mpi
