// SPDX-License-Identifier: BSD-3-Clause
// A carrier whose owner may let go of it at any time: it is closed when all ranks have let go of theirs.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "carrier.hpp"

namespace tutti::mpi {

class Messenger final : public transport::Transport {
 public:
  /// Collective, as Carrier's. Closes what others have let go of meanwhile.
  explicit Messenger(MPI_Comm over);
  /// Local.
  ~Messenger() override;
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  std::string_view name() const override { return carrier_->name(); }
  const transport::Capabilities& capabilities() const override { return carrier_->capabilities(); }
  void send(transport::Transfer& transfer) override { carrier_->send(transfer); }
  void recv(transport::Transfer& transfer) override { carrier_->recv(transfer); }
  std::optional<transport::Arrival> look(const transport::Tag& tag) override { return carrier_->look(tag); }
  void cancel(transport::Transfer& transfer) override { carrier_->cancel(transfer); }
  bool progress() override { return carrier_->progress(); }
  void peer_lost(transport::Peer peer) override { carrier_->peer_lost(peer); }
  void forget(std::uint64_t context) override { carrier_->forget(context); }

 private:
  std::shared_ptr<Carrier> carrier_;
};

}  // namespace tutti::mpi
