// SPDX-License-Identifier: BSD-3-Clause
// Where connections come from: listens, answers, calls. Whoever comes in has proved who he is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/tcp/events.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::transport::tcp {

class Door {
 public:
  /// What becomes of a peer.
  struct Owner {
    std::function<bool(Peer)> wants;                    ///< No connection with it stands, and it is not lost.
    std::function<void(Peer, base::Descriptor)> enter;  ///< A connection with it.
    std::function<void(Peer)> fail;                     ///< It cannot be reached.
  };
  Door(const Identity& identity, std::uint64_t patience, Owner owner);
  /// Listens there, too. Throws Error (system).
  void listen(const std::string& address);
  std::string addresses() const;

  /// Calls the peer at the first of these addresses that answers.
  void call(Peer peer, const std::string& addresses);
  bool calling(Peer peer) const;
  /// Ends the calls with a peer that is lost.
  void give_up(Peer peer);

  /// Moves on what is under way; true when anything ended. To be called now and then, too: something may take too long.
  bool progress();
  /// To be told of everything that happens here.
  int descriptor() const { return events_.descriptor(); }

 private:
  /// One call, at one address after the other.
  struct Call {
    Peer peer;
    std::vector<Address> left;
    std::unique_ptr<Greeting> greeting;  ///< Empty: the peer's own call is awaited.
    std::uint64_t deadline, next_address;
  };

  void dial(Call& call);
  bool advance(Call& call);
  void let_in(Greeting& greeting);
  void accept();
  bool answer_all(std::uint64_t now);
  bool call_all(std::uint64_t now);
  Verdict decide(Peer peer);
  void turn_away(const char* why);

  Identity identity_;
  std::uint64_t patience_;
  Owner owner_;
  Events events_;
  std::vector<base::Descriptor> listeners_;
  std::vector<std::unique_ptr<Greeting>> callers_;  ///< who have called
  std::vector<Call> calls_;
  bool told_ = false;
};

}  // namespace tutti::transport::tcp
