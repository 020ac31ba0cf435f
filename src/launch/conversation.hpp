// SPDX-License-Identifier: BSD-3-Clause
// The client's end of a rendezvous connection: one message out, one message in, with patience.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/member.hpp"
#include "launch/message.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

/// Keeps the time of one wait, over any number of steps.
class Deadline {
 public:
  explicit Deadline(const Patience& patience);
  /// Waits until the descriptor shows one of the poll events, or hangs up. Throws Error (timeout, interrupted, system).
  void wait(int descriptor, short events);

 private:
  Patience patience_;
  std::uint64_t until_ = 0;  // 0 = never
};

class Conversation {
 public:
  Conversation() = default;
  /// Connects, and makes sure that the listener belongs to this user before anything is told to it.
  explicit Conversation(const Address& address);

  void send(const Message& message, Deadline& deadline);
  /// The next message; a descriptor that comes along is kept for `take_descriptor`. A refusal is thrown as Error
  /// (system) with its reason, and so is the launcher's end.
  Message receive(Deadline& deadline);
  base::Descriptor take_descriptor() { return std::move(attached_); }
  /// The same, of one type. Throws Error (system) when the launcher says something else.
  template <class T>
  T expect(Deadline& deadline) {
    Message message = receive(deadline);
    if (T* content = std::get_if<T>(&message)) return std::move(*content);
    throw unexpected();
  }

  /// From now on the kernel kills this process when the other end hangs up. Throws Error (system), also when it has
  /// hung up already.
  void become_lifeline();
  bool open() const { return static_cast<bool>(socket_); }
  void close() { socket_.reset(); }

 private:
  static Error unexpected();
  static Error gone();
  bool read_some();

  base::Descriptor socket_, attached_;
  std::vector<std::byte> input_;
};

}  // namespace tutti::launch
