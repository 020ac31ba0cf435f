// SPDX-License-Identifier: BSD-3-Clause
#include "transport/matching.hpp"

namespace tutti::transport {

namespace {
// A recycled node keeps its memory when that is small, so that a steady state allocates nothing.
constexpr std::size_t kept_capacity = 16384;
}  // namespace

bool accepts(Transfer& receive, std::uint64_t size, std::uint32_t signature) {
  receive.their_size = size;
  receive.their_signature = signature;
  if (signature != receive.signature)
    receive.state = State::wrong_signature;
  else if (size != receive.size)
    receive.state = State::wrong_size;
  return receive.state == State::pending;
}

void Matching::recycle(Message& message) {
  message.announced = false;
  message.bytes.clear();
  if (message.bytes.capacity() > kept_capacity) message.bytes.shrink_to_fit();
  nodes_.recycle(message);
}

Message* Matching::expect(Transfer& receive) {
  Message* message = unexpected_.take(receive.peer, receive.tag);
  if (message == nullptr) posted_.push(receive);
  return message;
}

Message* Matching::expect_again(Transfer& receive) {
  Message* message = unexpected_.take(receive.peer, receive.tag);
  if (message == nullptr) posted_.push_front(receive);
  return message;
}

bool Matching::keep(Message& message) {
  if (has_forgotten(message.tag.context)) return false;
  if (renounced_.erase({message.peer, message.tag})) return false;
  unexpected_.push(message);
  return true;
}

bool Matching::renounce(Transfer& receive) {
  if (!withdraw(receive)) return false;
  if (receive.only && !has_forgotten(receive.tag.context)) renounced_.insert({receive.peer, receive.tag});
  return true;
}

Message* Matching::retract(Peer peer, const Tag& tag, std::uint64_t handle) {
  Message* const found = unexpected_.take_if(peer, tag, [&](const Message& message) {
    return message.announced && message.peer == peer && message.handle == handle;
  });
  if (found == nullptr) settle(peer, tag);
  return found;
}

}  // namespace tutti::transport
