// SPDX-License-Identifier: BSD-3-Clause
// The server's end of one rendezvous connection: bytes in and out, without ever waiting.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/message.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

class Connection {
 public:
  explicit Connection(base::Descriptor socket);

  int descriptor() const { return socket_.get(); }
  /// Closes the socket; nothing else may be done with this any more.
  void close() { socket_.reset(); }
  /// Of a Unix socket.
  Peer peer() const { return peer_of(socket_.get()); }

  /// Reads what has arrived, up to a limit. False when the other end has hung up.
  bool read();
  /// The next complete message among what was read. Outcome malformed: nothing more will come.
  Parsed next();

  /// Queues a message; `attached` (-1 = none) is a descriptor to hand over with it, which must stay open until then.
  void send(const Message& message, int attached = -1);
  /// The same for one that many get, serialised.
  void send(std::shared_ptr<const std::vector<std::byte>> message);
  /// Writes as much as fits. False when the other end has hung up.
  bool flush();
  /// Whether everything queued has been written.
  bool flushed() const { return output_.empty(); }

 private:
  struct Outgoing {
    std::shared_ptr<const std::vector<std::byte>> bytes;
    int attached = -1;
    std::size_t sent = 0;
  };
  base::Descriptor socket_;
  std::vector<std::byte> input_;
  std::deque<Outgoing> output_;
};

}  // namespace tutti::launch
