// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shm.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/shm/copy.hpp"
#include "transport/shm/receiver.hpp"
#include "transport/shm/sender.hpp"

namespace tutti::transport::shm {

namespace {

class Shm final : public Transport {
 public:
  Shm(std::shared_ptr<host::Segment> segment, Rank self, Options options)
      : segment_(std::move(segment)),
        options_(std::move(options)),
        capabilities_(capabilities_of(*segment_, self, options_)),
        lost_(static_cast<std::size_t>(segment_->size()), false),
        sender_(*segment_, self, capabilities_.eager, options_.wake),
        receiver_(*segment_, self, sender_, options_.piece, capabilities_.single_copy, options_.wake) {}

  std::string_view name() const override { return "shm"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  void send(Transfer& transfer) override { sender_.send(transfer); }
  void recv(Transfer& transfer) override {
    receiver_.recv(transfer);
    sender_.flush();
  }
  std::optional<Arrival> look(const Tag& tag) override { return receiver_.look(tag); }
  void cancel(Transfer& transfer) override {
    if (transfer.state == State::pending && !sender_.cancel(transfer)) receiver_.cancel(transfer);
    sender_.flush();
  }
  bool progress() override {
    bool moved = receiver_.progress();
    moved |= sender_.flush();
    moved |= sender_.collect();
    return lose_all(receiver_.corrupt()) || lose_all(sender_.corrupt()) || moved;
  }
  void peer_lost(Peer peer) override { lose(peer, true); }
  void forget(std::uint64_t context) override {
    receiver_.forget(context);
    sender_.flush();
  }

 private:
  static Capabilities capabilities_of(host::Segment& segment, Rank self, const Options& options) {
    SingleCopy found = probe_single_copy(segment, self, options.single_copy, options.patience);
    return {std::min(options.eager, largest_payload), found.works, std::move(found.why)};
  }
  bool lose_all(std::vector<Peer>& peers) {
    if (peers.empty()) return false;
    for (const Peer peer : peers) lose(peer, false);
    peers.clear();
    return true;
  }
  void lose(Peer peer, bool read_ring) {
    if (std::exchange(lost_[static_cast<std::size_t>(peer)], 1) != 0) return;
    receiver_.lose(peer, read_ring);
    sender_.lose(peer);
  }

  std::shared_ptr<host::Segment> segment_;
  const Options options_;
  const Capabilities capabilities_;
  std::vector<char> lost_;
  Sender sender_;
  Receiver receiver_;
};

}  // namespace

std::unique_ptr<Transport> connect(std::shared_ptr<host::Segment> segment, Rank self, Options options) {
  return std::make_unique<Shm>(std::move(segment), self, std::move(options));
}

}  // namespace tutti::transport::shm
