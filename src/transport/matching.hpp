// SPDX-License-Identifier: BSD-3-Clause
// Posted receives and messages that came before them, matched by peer and tag; equal tags in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "transport/pool.hpp"
#include "transport/recent.hpp"
#include "transport/transport.hpp"

namespace tutti::transport {

/// A message that has arrived, or been announced, before its receive.
struct Message {
  Peer peer = -1;
  Tag tag;
  std::uint32_t signature = 0;
  std::uint64_t size = 0;
  bool announced = false;        ///< The bytes are still at the sender's (rendezvous).
  std::uint64_t address = 0;     ///< announced: where they lie there.
  std::uint64_t handle = 0;      ///< announced: the sender's name for its transfer.
  std::vector<std::byte> bytes;  ///< Otherwise they are here.
  std::uint32_t slot = 0;        ///< For the transport.
  std::uint64_t arrival = 0;     ///< For the transport.
  Message* next = nullptr;
};

inline std::uint64_t hash_of(Peer peer, const Tag& tag) {
  const std::uint64_t who = static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32 | tag.message;
  return base::mix(tag.context ^ base::mix(tag.sequence + static_cast<std::uint64_t>(tag.lane)) ^
                   who * 0x9e3779b97f4a7c15u);
}

/// From whom, and with which tag.
struct Expected {
  Peer peer = -1;
  Tag tag;
  bool operator==(const Expected&) const = default;
};
struct ExpectedHash {
  std::size_t operator()(const Expected& one) const { return static_cast<std::size_t>(hash_of(one.peer, one.tag)); }
};

/// First-in-first-out lists by (peer, tag), through the nodes' own `next`. Allocates only when it grows.
template <class Node>
class TagTable {
 public:
  TagTable() : buckets_(64) {}

  void push(Node& node) {
    if (count_ >= 2 * buckets_.size()) grow();
    append(bucket(node.peer, node.tag), node);
    ++count_;
  }
  /// As push, but before all others of its peer and tag.
  void push_front(Node& node) {
    Bucket& home = bucket(node.peer, node.tag);
    node.next = home.first;
    home.first = &node;
    if (home.last == nullptr) home.last = &node;
    ++count_;
  }
  /// The first node of this peer and tag, unlinked; nullptr when there is none.
  Node* take(Peer peer, const Tag& tag) {
    return unlink(bucket(peer, tag), [&](const Node& node) { return node.peer == peer && node.tag == tag; });
  }
  /// Unlinks one node; false when it is not here.
  bool remove(const Node& node) {
    return unlink(bucket(node.peer, node.tag), [&](const Node& other) { return &other == &node; }) != nullptr;
  }
  /// The first node with this tag, which is from anyone; nullptr when there is none.
  const Node* first(const Tag& tag) {
    const Node* node = bucket(-1, tag).first;
    while (node != nullptr && !(node->tag == tag)) node = node->next;
    return node;
  }
  /// The first node with this tag of which `predicate` is true, unlinked; nullptr when there is none.
  template <class Predicate>
  Node* take_if(Peer peer, const Tag& tag, Predicate predicate) {
    return unlink(bucket(peer, tag), predicate);
  }
  /// Unlinks every node of which `predicate` is true and hands it to `consume`.
  template <class Predicate, class Consume>
  void remove_if(Predicate predicate, Consume consume) {
    for (Bucket& bucket : buckets_)
      while (Node* node = unlink(bucket, predicate)) consume(*node);
  }
  std::size_t size() const { return count_; }

 private:
  struct Bucket {
    Node* first = nullptr;
    Node* last = nullptr;
  };

  Bucket& bucket(Peer peer, const Tag& tag) {
    return buckets_[hash_of(tag.from_anyone() ? -1 : peer, tag) & (buckets_.size() - 1)];
  }
  static void append(Bucket& bucket, Node& node) {
    node.next = nullptr;
    (bucket.last != nullptr ? bucket.last->next : bucket.first) = &node;
    bucket.last = &node;
  }
  template <class Predicate>
  Node* unlink(Bucket& bucket, Predicate predicate) {
    Node* previous = nullptr;
    for (Node* node = bucket.first; node != nullptr; previous = node, node = node->next) {
      if (!predicate(*node)) continue;
      (previous != nullptr ? previous->next : bucket.first) = node->next;
      if (bucket.last == node) bucket.last = previous;
      node->next = nullptr;
      --count_;
      return node;
    }
    return nullptr;
  }
  void grow() {
    std::vector<Bucket> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (Bucket& from : old)
      for (Node* node = from.first; node != nullptr;) {
        Node* next = node->next;
        append(bucket(node->peer, node->tag), *node);
        node = next;
      }
  }

  std::vector<Bucket> buckets_;  // a power of two of them
  std::size_t count_ = 0;
};

/// Decides whether a message of this size and signature may be copied into the receive. When not, ends the receive.
bool accepts(Transfer& receive, std::uint64_t size, std::uint32_t signature);

/// The receiving half of a transport. Not thread-safe.
class Matching {
 public:
  /// A message's node, from the pool; `recycle` gives it back.
  Message& obtain() { return nodes_.obtain(); }
  void recycle(Message& message);

  /// The first message for this receive, which is the caller's then; or nullptr and the receive is posted.
  Message* expect(Transfer& receive);
  /// As expect, for a receive that was posted before: it stays ahead of those that were posted after it.
  Message* expect_again(Transfer& receive);
  /// The first receive posted for a message of this peer and tag, no longer posted; nullptr when there is none.
  Transfer* find(Peer peer, const Tag& tag) { return posted_.take(peer, tag); }
  /// Keeps a message until its receive comes. False when its group was forgotten, or its receive taken back for good:
  /// the caller drops it.
  bool keep(Message& message);

  /// The first message kept with this tag, which is from anyone.
  std::optional<Arrival> look(const Tag& tag) {
    const Message* message = unexpected_.first(tag);
    return message == nullptr ? std::nullopt : std::optional(Arrival{message->peer, message->size});
  }

  /// Takes a posted receive back; false when it is not posted.
  bool withdraw(Transfer& receive) { return posted_.remove(receive); }
  /// The same for good: where no other message has its tag, `keep` refuses the one it was for.
  bool renounce(Transfer& receive);
  /// What a receive that was renounced was for does not come any more.
  void settle(Peer peer, const Tag& tag) { renounced_.erase({peer, tag}); }
  /// Takes an announced message back, for a sender that cancels; nullptr when it is not here.
  Message* retract(Peer peer, const Tag& tag, std::uint64_t handle);

  /// Ends the receives posted for this peer as lost and hands its announced messages to `drop`; messages that are
  /// here completely stay.
  template <class Drop>
  void lose(Peer peer, Drop drop) {
    posted_.remove_if([&](const Transfer& receive) { return receive.peer == peer; },
                      [](Transfer& receive) { receive.state = State::lost; });
    unexpected_.remove_if([&](const Message& message) { return message.peer == peer && message.announced; }, drop);
    renounced_.erase_if([&](const Expected& one) { return one.peer == peer; });
  }
  bool has_forgotten(std::uint64_t context) const { return forgotten_.contains(context); }
  /// Hands the messages of this group to `drop`; those that come later are refused by `keep`.
  template <class Drop>
  void forget(std::uint64_t context, Drop drop) {
    forgotten_.insert(context);
    const auto belongs = [&](const auto& one) { return one.tag.context == context; };
    unexpected_.remove_if(belongs, drop);
    renounced_.erase_if(belongs);
  }

  std::size_t unexpected() const { return unexpected_.size(); }
  std::size_t posted() const { return posted_.size(); }

 private:
  // Of most there comes nothing any more; the last of so many are those of which something may.
  static constexpr std::size_t most_renounced = 4096, most_forgotten = 65536;

  TagTable<Transfer> posted_;
  TagTable<Message> unexpected_;
  Recent<Expected, ExpectedHash> renounced_{most_renounced};
  Recent<std::uint64_t> forgotten_{most_forgotten};  // contexts are never used again
  Pool<Message> nodes_;
};

}  // namespace tutti::transport
