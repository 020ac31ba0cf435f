// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a connection: who is there, and does he know the secret?
//
//     caller    Hello, Answer          >   answerer
//     caller  <  Challenge, Verdict        answerer
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/descriptor.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

class Greeting {
 public:
  enum class State {
    calling,    ///< The system connects.
    hello,      ///< Answerer: waits for it.
    challenge,  ///< Caller: waits for it.
    answer,     ///< Answerer: waits for it.
    verdict,    ///< Caller: waits for it.
    open,       ///< Both know each other; the socket may be taken.
    busy,       ///< Caller: the other's own call will be used.
    refused,    ///< The other one is a stranger, or belongs to another job.
    gone,       ///< He has hung up, or cannot be reached.
  };
  /// Answerer: what to say to a peer that has proved who it is.
  using Decide = std::function<Verdict(Peer)>;

  /// Calls this peer. `deadline`: by base::now().
  Greeting(const Identity& identity, base::Descriptor socket, Peer peer, std::uint64_t deadline);
  /// Answers whoever has called.
  Greeting(const Identity& identity, base::Descriptor socket, std::uint64_t deadline);

  /// Moves on as far as the connection allows.
  State advance(const Decide& decide);
  int socket() const { return socket_.get(); }
  bool calls() const { return side_ == Side::caller; }
  /// Whom this caller calls; who has proved to be the caller; -1 before that.
  Peer peer() const { return peer_; }
  std::uint64_t deadline() const { return deadline_; }
  base::Descriptor take() { return std::move(socket_); }

 private:
  template <class T>
  void say(const T& what);
  /// True when a whole one has come.
  template <class T>
  bool hear(T& what);
  bool flush();
  bool step(const Decide& decide);
  bool step_of_caller();
  bool step_of_answerer(const Decide& decide);
  bool end(State state);

  Identity identity_;
  base::Descriptor socket_;
  Side side_;
  State state_;
  Peer peer_;
  std::uint64_t deadline_;
  Hello hello_;
  Nonce nonce_{};
  std::array<std::byte, 64> in_{}, out_{};
  std::size_t have_ = 0, unsent_ = 0, sent_ = 0;
};

}  // namespace tutti::transport::tcp
