// SPDX-License-Identifier: BSD-3-Clause
// Receives that wait at the peers for large messages which this process has not sent yet.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/header.hpp"
#include "transport/matching.hpp"
#include "transport/pool.hpp"

namespace tutti::transport {

struct Invitation {
  Peer peer = -1;
  Tag tag;
  std::uint32_t signature = 0;
  std::uint64_t size = 0, place = 0;
  Invitation* next = nullptr;

  bool fits(const Transfer& send) const { return send.size == size && send.signature == signature; }
};

inline Invitation invitation_of(Peer from, const Header& header) {
  return {.peer = from, .tag = header.tag(), .signature = header.signature, .size = header.size, .place = header.place};
}

class Invitations {
 public:
  void keep(const Invitation& invitation) {
    Invitation& node = nodes_.obtain();
    node = invitation;
    kept_.push(node);
  }
  /// The one for the next message of this peer and tag.
  std::optional<Invitation> take(Peer peer, const Tag& tag) {
    if (kept_.size() == 0) return std::nullopt;
    Invitation* const node = kept_.take(peer, tag);
    if (node == nullptr) return std::nullopt;
    nodes_.recycle(*node);
    return *node;
  }
  template <class Predicate>
  void drop_if(Predicate predicate) {
    kept_.remove_if(predicate, [this](Invitation& node) { nodes_.recycle(node); });
  }

 private:
  TagTable<Invitation> kept_;
  Pool<Invitation> nodes_;
};

}  // namespace tutti::transport
