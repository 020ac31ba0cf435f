// SPDX-License-Identifier: BSD-3-Clause
// Whoever serves a rendezvous: guests and what they say, the job's seats, the store. How guests come in, and what they
// are told about the job, is for those who derive from it: the launcher on one host, rank 0 on many.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/connection.hpp"
#include "launch/loop.hpp"
#include "launch/message.hpp"
#include "launch/store.hpp"

namespace tutti::launch {

/// How far a rank's process is.
enum class Seat : std::uint8_t {
  empty,    ///< Nobody has come.
  joining,  ///< Welcomed, not yet in the segment.
  ready,    ///< Waits for the others.
  member,
  left,
  lost,  ///< Its process ended without leaving, or could not join.
};

class Rendezvous {
 public:
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int size() const { return static_cast<int>(places_.size()); }
  Seat seat(Rank rank) const { return place(rank).seat; }
  /// In a forked child: closes its copies of all sockets, so that the ends of the parent's are seen, and nothing else.
  virtual void close_copies();
  /// The process that took the rank's seat, as this process sees it; 0 when none has.
  pid_t pid(Rank rank) const { return place(rank).pid; }

 protected:
  using Id = std::uint64_t;
  enum class Stage : std::uint8_t { greeting, control, lifeline, refused };
  struct Guest {
    Connection connection;
    Stage stage = Stage::greeting;
    Rank rank = -1;
    Loop::Timer deadline{};
  };

  /// Serves while the loop turns. The loop must outlive it.
  Rendezvous(Loop& loop, int size);
  virtual ~Rendezvous();

  /// Takes in whoever calls there, from now on.
  void listen(base::Descriptor listener);
  /// Who calls from now on finds nobody, and others may listen there.
  void stop_listening();
  /// A new guest, who has little time to say who it is.
  Id admit(base::Descriptor socket);
  void send(Id id, const Message& message, int attached = -1);
  void send(Id id, std::shared_ptr<const std::vector<std::byte>> message);
  /// Ends a connection with a reason, or without one.
  void refuse(Id id, const std::string& reason);
  void hang_up(Id id);
  Guest& guest(Id id) { return guests_.at(id); }
  /// Reads what has come from a guest that is still there.
  void hear_out(Id id);

  /// Why a process cannot take a seat; empty when it can. `size`: of the job, as it believes.
  std::string seat_objection(Rank rank) const;
  std::string size_objection(int size) const;
  void take_seat(Id id, Rank rank, pid_t pid);
  /// From now on this guest is only watched for its hang-up.
  void make_lifeline(Id id, Rank rank);
  /// Nobody will come as this rank any more.
  void cancel_seat(Rank rank, const std::string& reason);
  /// The rank's process has ended without leaving, or might as well have.
  void lose(Rank rank);
  /// Without one of its ranks the job can never be complete: nobody shall wait for that.
  void give_up(const std::string& reason);
  /// Nobody serves from now on: the members who are still there are told of a loss, which may be why.
  void pass_on_loss();
  /// Why this job can never be complete; empty = it can.
  const std::string& hopeless() const { return hopeless_; }
  bool complete() const { return complete_; }
  /// Which guest speaks for the rank; 0 when none has come.
  Id speaker(Rank rank) const { return place(rank).control; }

  /// Drops whoever has taken longest to say who it is. False when there is nobody of the kind.
  virtual bool make_room();

  Loop& loop_;

 private:
  struct Place {
    Seat seat = Seat::empty;
    pid_t pid = 0;
    Id control = 0;
  };

  /// Somebody has called.
  virtual void accepted(base::Descriptor socket) { admit(std::move(socket)); }
  /// The first message of a guest: gives it a stage, or refuses it.
  virtual void greet(Id id, Guest& guest, const Message& message) = 0;
  /// The rank's seat has become `left` or `lost`.
  virtual void vacated(Rank) {}
  /// It was lost by itself, and was this before; the others have not been told yet.
  virtual void lost(Rank, Seat) {}

  const Place& place(Rank rank) const { return places_[static_cast<std::size_t>(rank)]; }
  Place& place(Rank rank) { return places_[static_cast<std::size_t>(rank)]; }

  // rendezvous.cpp
  void accept_some(int listener);
  void watch(Id id, Guest& guest);
  void serve(Id id, std::uint32_t events);
  void push(Id id, Guest& guest);
  void close(Id id);

  // seats.cpp
  void handle(Id id, const Message& message);
  void become_ready(Rank rank);
  void leave(Rank rank);
  void put(Id id, const Put& put);
  void get(Id id, const Get& get);
  void fail(const Store::Question& question, const std::string& key);

  std::vector<base::Descriptor> listeners_;
  std::map<Id, Guest> guests_;  // in order of arrival
  Id last_id_ = 0;
  std::vector<Place> places_;
  Store store_;
  std::string loss_;      // which member was lost first; empty = none
  std::string hopeless_;  // why this job can never be complete; empty = it can
  bool complete_ = false;
  bool told_want_ = false;  // that ranks are kept waiting for want of descriptors
};

}  // namespace tutti::launch
