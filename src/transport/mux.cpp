// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mux.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tutti::transport {
namespace {

class Mux final : public Transport {
 public:
  Mux(std::unique_ptr<Transport> near, std::unique_ptr<Transport> far, std::vector<Rank> places)
      : near_(std::move(near)), far_(std::move(far)), places_(std::move(places)) {
    ranks_.resize(static_cast<std::size_t>(std::ranges::max(places_)) + 1);
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (places_[rank] >= 0) ranks_[static_cast<std::size_t>(places_[rank])] = static_cast<Rank>(rank);
    capabilities_ = near_->capabilities();
    capabilities_.eager = std::min(capabilities_.eager, far_->capabilities().eager);
    capabilities_.segment = far_->capabilities().segment;
    name_ = std::string(near_->name()) + " and " + std::string(far_->name());
  }

  std::string_view name() const override { return name_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  void send(Transfer& transfer) override { route(transfer).send(transfer); }
  void recv(Transfer& transfer) override { route(transfer).recv(transfer); }
  std::optional<Arrival> look(const Tag& tag) override {
    if (auto arrival = near_->look(tag)) {
      arrival->peer = ranks_[static_cast<std::size_t>(arrival->peer)];
      return arrival;
    }
    return far_->look(tag);
  }
  void cancel(Transfer& transfer) override { (transfer.near ? *near_ : *far_).cancel(transfer); }
  bool progress() override {
    const bool moved = near_->progress();
    return far_->progress() || moved;
  }
  bool progress_in_turns() override {
    const bool moved = near_->progress_in_turns();
    return far_->progress_in_turns() || moved;
  }
  bool connected(Peer peer) const override {
    const Rank place = place_of(peer);
    return place >= 0 ? near_->connected(place) : far_->connected(peer);
  }
  void call(Peer peer) override {
    const Rank place = place_of(peer);
    place >= 0 ? near_->call(place) : far_->call(peer);
  }
  Fate fate(Peer peer) const override {
    const Rank place = place_of(peer);
    return place >= 0 ? near_->fate(place) : far_->fate(peer);
  }
  std::string unreached(Peer peer) const override {
    const Rank place = place_of(peer);
    return place >= 0 ? near_->unreached(place) : far_->unreached(peer);
  }
  std::uint64_t rate(Peer peer) const override {
    const Rank place = place_of(peer);
    return place >= 0 ? near_->rate(place) : far_->rate(peer);
  }
  std::string suit(std::uint64_t link_rate) override { return far_->suit(link_rate); }
  void peer_lost(Peer peer) override {
    const Rank place = place_of(peer);
    place >= 0 ? near_->peer_lost(place) : far_->peer_lost(peer);
  }
  void forget(std::uint64_t context) override {
    near_->forget(context);
    far_->forget(context);
  }
  bool has_left() const override { return near_->has_left() && far_->has_left(); }
  std::vector<Peer> drain(std::uint64_t nanoseconds) override {
    std::vector<Peer> left = far_->drain(nanoseconds);
    for (const Peer place : near_->drain(nanoseconds)) left.push_back(ranks_[static_cast<std::size_t>(place)]);
    return left;
  }

 private:
  Rank place_of(Peer peer) const { return places_[static_cast<std::size_t>(peer)]; }
  Transport& route(Transfer& transfer) {
    const Rank place = place_of(transfer.peer);
    transfer.near = place >= 0;
    if (!transfer.near) return *far_;
    transfer.peer = place;
    return *near_;
  }

  std::unique_ptr<Transport> near_, far_;
  std::vector<Rank> places_;  // by rank of the world
  std::vector<Rank> ranks_;   // by place
  Capabilities capabilities_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Transport> mux(std::unique_ptr<Transport> near, std::unique_ptr<Transport> far,
                               std::vector<Rank> places) {
  if (near == nullptr) return far;
  return std::make_unique<Mux>(std::move(near), std::move(far), std::move(places));
}

}  // namespace tutti::transport
