// SPDX-License-Identifier: BSD-3-Clause
// The MPI's point-to-point as a transport: for groups whose ranks are on several hosts. Headers and small messages are
// one message of the MPI each; the bytes of a large one are another, straight from buffer to buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi.hpp"
#include "transport/rendezvous.hpp"
#include "transport/transport.hpp"

namespace tutti::mpi {

class Carrier final : public transport::Transport, private transport::Channel {
 public:
  /// Collective: its messages go through a duplicate of this communicator, whose ranks are the peers. Throws Error
  /// (system).
  explicit Carrier(MPI_Comm over);
  ~Carrier() override { expect_nothing(); }
  /// Collective, while the MPI works: nothing is sent any more.
  void close();
  /// The same, without waiting: true when it is closed. Called by each rank until then.
  bool close_soon();

  /// "mpi (Open MPI 5.0.11)"
  std::string_view name() const override { return name_; }
  const transport::Capabilities& capabilities() const override { return capabilities_; }
  void send(transport::Transfer& transfer) override;
  void recv(transport::Transfer& transfer) override;
  std::optional<transport::Arrival> look(const transport::Tag& tag) override { return rendezvous_.look(tag); }
  void cancel(transport::Transfer& transfer) override;
  bool progress() override;
  void peer_lost(transport::Peer peer) override { rendezvous_.lose(peer); }
  void forget(std::uint64_t context) override { rendezvous_.forget(context); }

 private:
  /// What the MPI still reads: a header, and what follows it.
  struct Packet {
    std::size_t kind = 0;  ///< Of its memory.
    std::unique_ptr<std::byte[]> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  /// The bytes of a large message that leave.
  struct Leaving {
    transport::Transfer* transfer = nullptr;
    std::vector<MPI_Request> requests{};
  };
  /// The bytes of a large message that are awaited.
  struct Coming {
    std::uint64_t place = 0;
    transport::Peer peer = -1;
    std::vector<MPI_Request> requests{};
    std::unique_ptr<std::byte[]> unwanted{};  ///< Where those of a cancelled receive go.
  };

  void post(transport::Peer to, const transport::Header& header, std::span<const std::byte> bytes) override;
  void want(std::uint64_t place, const transport::Pull& pull) override;
  void give(transport::Transfer& transfer, std::uint64_t place) override;
  bool abandon(std::uint64_t place, const transport::Pull& pull) override;
  void over(std::uint64_t place, const transport::Pull& pull) override;
  void taken(transport::Peer, std::uint64_t) override {}

  /// What all ranks together have sent and heard.
  struct Traffic {
    std::int64_t sent = 0, heard = 0;
    bool operator==(const Traffic&) const = default;
  };

  /// Receives that the MPI fulfils in their order: for headers and small messages of anybody. Without ahead_: of the
  /// one that has come, if any.
  static constexpr std::size_t rooms = 4;
  std::span<std::byte> room(std::size_t number);
  bool expect(std::size_t number);
  void expect_nothing();
  bool take_message();
  void hear(transport::Peer from, std::span<const std::byte> packet);
  bool end_packets();
  bool end_leaving();
  bool end_coming();

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::string name_;
  transport::Capabilities capabilities_;
  transport::Rendezvous rendezvous_;
  const bool invites_, ahead_;
  std::vector<Packet> packets_;
  std::size_t packed_ = 0;                                          ///< Bytes of memory that packets have.
  std::array<std::vector<std::unique_ptr<std::byte[]>>, 2> spare_;  ///< Of each kind, for the next packets.
  std::vector<Leaving> leaving_;
  std::vector<Coming> coming_;
  std::vector<std::byte> inbox_;  ///< The rooms, one after the other.
  std::array<MPI_Request, rooms> expected_{};
  std::size_t oldest_ = 0;                   ///< Of those.
  Traffic mine_;                             ///< This rank's.
  MPI_Request counting_ = MPI_REQUEST_NULL;  ///< Adds up everybody's, when the end has come.
  Traffic counted_, before_;                 ///< What came of it, and the time before.
};

}  // namespace tutti::mpi
