// SPDX-License-Identifier: BSD-3-Clause
// The client's end of a rendezvous connection: one message out, one message in, with patience.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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
  /// Whom one waits for, as errors say it.
  void await(std::string whom) { awaited_ = std::move(whom); }
  const std::string& awaited() const { return awaited_; }
  /// Waits until the descriptor shows one of the poll events, or hangs up. Throws Error (timeout, interrupted, system).
  void wait(int descriptor, short events);
  /// The same, but not longer than `most` nanoseconds: false when nothing has happened by then.
  bool wait(int descriptor, short events, std::uint64_t most);
  /// Nanoseconds that are left; those of a year without a limit.
  std::uint64_t left() const;
  /// So long at most before the next expect_uninterrupted().
  std::uint64_t pause() const;
  /// Throws Error (interrupted) when the caller is wanted elsewhere.
  void expect_uninterrupted() const;

 private:
  Patience patience_;
  std::string awaited_ = "the launcher or the other ranks";
  std::uint64_t until_ = 0;  // 0 = never
};

class Conversation {
 public:
  Conversation() = default;
  /// Connects, and makes sure that the listener belongs to this user before anything is told to it.
  explicit Conversation(const Address& address);
  /// Over a connection with somebody who has proved who he is. `partner`: as errors name him.
  Conversation(base::Descriptor socket, std::string partner);

  void send(const Message& message, Deadline& deadline);
  /// The next message; a descriptor that comes along is kept for `take_descriptor`. A refusal is thrown as Error
  /// (system) with its reason, and so is a hang-up.
  Message receive(Deadline& deadline);
  base::Descriptor take_descriptor() { return std::move(attached_); }
  /// The same, of one type. Throws Error (system) when the other end says something else.
  template <class T>
  T expect(Deadline& deadline) {
    Message message = receive(deadline);
    if (T* content = std::get_if<T>(&message)) return std::move(*content);
    throw unexpected();
  }

  int descriptor() const { return socket_.get(); }
  /// From now on the kernel kills this process when the other end hangs up. Throws Error (system), also when it has
  /// hung up already.
  void become_lifeline();
  bool open() const { return static_cast<bool>(socket_); }
  void close() { socket_.reset(); }
  /// For a message that has no place where it came.
  Error unexpected() const;

 private:
  Error gone() const;
  bool read_some();

  base::Descriptor socket_, attached_;
  std::string partner_ = "the launcher";
  std::vector<std::byte> input_;
};

}  // namespace tutti::launch
