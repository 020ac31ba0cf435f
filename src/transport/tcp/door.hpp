// SPDX-License-Identifier: BSD-3-Clause
// Where connections come from: listens, answers, calls. Whoever comes in has proved who he is.
//
// A peer with several addresses is called at one after the other, without waiting long for those before; the first that
// proves to be this peer is answered, and only one at a time. So of two that call each other neither waits for a call
// that cannot get through: who has not answered yet lets the other one in. When both have, the lower rank's call is
// used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/tcp/events.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::transport::tcp {

class Door {
 public:
  /// Of a peer that cannot be reached.
  struct Failure {
    bool absent;       ///< Nobody listens at any of its addresses, whose systems have answered.
    std::string said;  ///< "tcp:10.0.0.2:4711 (no answer), tcp:10.1.0.2:4711 (Connection refused)"
  };
  /// What becomes of a peer.
  struct Owner {
    std::function<bool(Peer)> wants;                    ///< No connection with it stands, and it is not lost.
    std::function<void(Peer, base::Descriptor)> enter;  ///< A connection with it.
    std::function<void(Peer, const Failure&)> fail;
    /// Whether another process of the host with this address answers.
    std::function<bool(const Address&)> answers;
  };
  /// How long others may take, in nanoseconds: a host to answer the first call, the system of one that has answered to
  /// acknowledge what it is told, and a caller to prove who he is. Of the first and the last no more counts than this
  /// process looks.
  struct Patience {
    std::uint64_t call, word, stranger;
  };
  Door(const Identity& identity, Patience patience, Owner owner);
  /// Listens at these places. Throws as listen_at_all.
  void listen(const std::vector<std::string>& places);
  std::string addresses() const;

  /// Calls the peer at these addresses.
  void call(Peer peer, const std::string& addresses);
  /// Ends the calls with a peer that is lost.
  void give_up(Peer peer);

  /// Moves on what is under way; true when anything ended. To be called now and then, too: something may take too long.
  bool progress();
  /// To be told of everything that happens here.
  int descriptor() const { return events_.descriptor(); }
  /// In a forked child: closes its copies of all sockets, and does nothing else to them.
  void close_copies();

 private:
  struct Attempt {
    Address address;
    Greeting greeting;
  };
  struct Call {
    Peer peer;
    std::vector<Address> left;              ///< The last is tried next.
    std::uint64_t deadline, dialled, last;  ///< deadline: moved on, until the last, where its host answers others.
    std::vector<Attempt> attempts{};
    std::vector<std::pair<Address, std::string>> said{};  ///< What came of each address that has failed, of late.
    std::vector<Address> again{};                         ///< When none is left.
    bool absent = true;                                   ///< All that have failed say that nobody listens there.

    /// The first attempt that is in one of these states.
    Greeting* in(std::initializer_list<Greeting::State> states);
    /// The attempt that has been answered, or stands.
    Greeting* chosen() { return in({Greeting::State::welcome, Greeting::State::open}); }
    void note(const Address& address, std::string what);
    Failure failure();
  };

  void dial(Call& call, std::uint64_t now);
  bool advance(Call& call, std::uint64_t now);
  bool is_late(Call& call, std::uint64_t now);
  void say_late(Call& call, std::uint64_t now);
  void enter(Greeting& greeting);
  void excuse(std::uint64_t now);
  void accept(std::uint64_t now);
  void listen_or_not(std::uint64_t now);
  bool answer_all(std::uint64_t now);
  void hang_up(std::uint64_t now);
  std::vector<Call> call_all(std::uint64_t now);
  bool comes_first(Peer peer);
  bool has_called(Peer peer) const;
  void turn_away(const char* why);
  void go_deaf(std::uint64_t now, int error);

  Identity identity_;
  Patience patience_;
  Owner owner_;
  Events events_;
  std::vector<base::Descriptor> listeners_;
  std::vector<std::unique_ptr<Greeting>> callers_;  ///< who have called
  std::vector<Call> calls_;
  bool listening_ = true;
  std::uint64_t looked_;          ///< When it last looked what has happened.
  std::uint64_t deaf_until_ = 0;  ///< No descriptor was left for the next caller.
  bool told_ = false;             ///< that somebody was turned away
  bool told_deaf_ = false;        ///< that no more can be let in
  bool told_late_ = false;        ///< that a peer does not answer while its host does
};

}  // namespace tutti::transport::tcp
