// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a connection: who is there, and does he know the secret?
//
//     caller    Hello, Answer           >   answerer
//     caller  <  Challenge, the welcome      answerer
//
// It stops where either end may choose between several: the caller before it answers, the answerer before it welcomes.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

class Greeting {
 public:
  enum class State {
    calling,    ///< The system connects.
    hello,      ///< Answerer: waits for it.
    challenge,  ///< Caller: waits for it.
    found,      ///< Caller: the other end is who it should be; it may be answered.
    answer,     ///< Answerer: waits for it.
    known,      ///< Answerer: the caller has proved who it is; it may be welcomed.
    welcome,    ///< Caller: waits for it.
    open,       ///< Both know each other; the socket may be taken.
    refused,    ///< The other one is a stranger, or belongs to another job.
    again,      ///< Caller: he has hung up on whom he did not know, perhaps it took too long; or his system, which may
                ///< have too many callers, has not acknowledged a word for too long.
    gone,       ///< He has hung up, or cannot be reached.
    absent,     ///< Caller: nobody listens there.
  };

  struct Callee {
    Peer peer;
    /// Nanoseconds for which its system may leave a word unacknowledged, once it has answered; 0: any.
    std::uint64_t patience = 0;
  };
  /// Calls this peer.
  Greeting(const Identity& identity, base::Descriptor socket, Callee callee);
  struct Until {
    std::uint64_t time;  ///< By base::now().
  };
  /// Answers whoever has called.
  Greeting(const Identity& identity, base::Descriptor socket, Until deadline);

  /// Moves on as far as the connection allows.
  State advance();
  /// found: answers. From now on the connection stands when the other end says so.
  void answer();
  /// known: the connection stands.
  void let_in();
  State state() const { return state_; }
  /// Ended: what the system said, as errno; 0: nothing.
  int error() const { return error_; }
  int socket() const { return socket_.get(); }
  /// Whom this caller calls; who has proved to be the caller; -1 before that.
  Peer peer() const { return peer_; }
  std::uint64_t deadline() const { return deadline_; }
  void postpone(std::uint64_t nanoseconds) { deadline_ += nanoseconds; }
  base::Descriptor take();
  /// In a forked child: the parent's connection stays as it is.
  void close_copy() { socket_.reset(); }

 private:
  template <class T>
  void say(const T& what);
  /// True when a whole one has come.
  template <class T>
  bool hear(T& what);
  bool flush();
  bool step();
  bool take_line();
  bool take_challenge();
  bool take_hello();
  bool take_answer();
  bool take_welcome();
  bool still_there();
  bool ended(ssize_t result);
  bool end(State state);

  Identity identity_;
  base::Descriptor socket_;
  State state_;
  int error_ = 0;
  Peer peer_;
  std::uint64_t patience_ = 0, deadline_ = 0;
  Hello hello_;
  Nonce nonce_{};  ///< The answerer's.
  std::array<std::byte, 64> in_{}, out_{};
  std::size_t have_ = 0, unsent_ = 0, sent_ = 0;
};

}  // namespace tutti::transport::tcp
