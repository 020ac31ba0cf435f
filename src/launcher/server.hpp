// SPDX-License-Identifier: BSD-3-Clause
// The launcher's side of the rendezvous: lets the job's ranks in, and nobody else; keeps their store; knows who lives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "launch/connection.hpp"
#include "launch/message.hpp"
#include "launcher/loop.hpp"
#include "launcher/store.hpp"

namespace tutti::launcher {

/// How far a rank's process is.
enum class Seat : std::uint8_t {
  empty,    ///< Nobody has come.
  joining,  ///< Welcomed, not yet in the segment.
  ready,    ///< Waits for the others.
  member,
  left,
  lost,  ///< Its process ended without leaving, or could not join.
};

class Server {
 public:
  /// Listens from now on; serves while the loop turns. The loop must outlive it.
  /// `cores`: what all ranks together may use, for them to know.
  Server(Loop& loop, const launch::Secret& secret, std::shared_ptr<host::Segment> segment, int cores);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// For TUTTI_STORE.
  const std::string& address() const { return address_; }
  Seat seat(Rank rank) const { return place(rank).seat; }
  /// The process that took the rank's seat, as this process sees it; 0 when none has.
  pid_t pid(Rank rank) const { return place(rank).pid; }

  /// The process that was started as this rank has ended. When it never came, or was the one that joined, the others
  /// are told; when it only wrapped the one that joined, nothing happens.
  void ended(Rank rank, pid_t pid);
  /// Called when a member is lost.
  void on_lost(std::function<void(Rank)> action) { on_lost_ = std::move(action); }

 private:
  using Id = std::uint64_t;
  enum class Stage : std::uint8_t { greeting, control, lifeline, refused };
  struct Guest {
    launch::Connection connection;
    Stage stage = Stage::greeting;
    Rank rank = -1;
    Loop::Timer deadline{};
  };
  struct Place {
    Seat seat = Seat::empty;
    pid_t pid = 0;
    Id control = 0;
    base::Descriptor process;
  };

  const Place& place(Rank rank) const { return places_[static_cast<std::size_t>(rank)]; }
  Place& place(Rank rank) { return places_[static_cast<std::size_t>(rank)]; }

  void accept_some();
  void admit(base::Descriptor socket);
  bool make_room();
  void watch(Id id, Guest& guest);
  void serve(Id id, std::uint32_t events);
  void handle_input(Id id);
  void send(Id id, const launch::Message& message, int attached = -1);
  void refuse(Id id, const std::string& reason);
  void close(Id id);
  void hang_up(Id id);

  void handle(Id id, const launch::Message& message);
  std::string objection(const Guest& guest, const launch::Hello& hello) const;
  std::string seat_objection(const launch::Hello& hello) const;
  void take_seat(Id id, Guest& guest, const launch::Hello& hello);
  void become_ready(Rank rank);
  void leave(Rank rank);
  void lose(Rank rank);
  void give_up(const std::string& reason);
  void process_ended(Rank rank);
  void put(Id id, const launch::Put& put);
  void get(Id id, const launch::Get& get);
  void fail(const Store::Question& question, const std::string& key);

  Loop& loop_;
  const launch::Secret secret_;
  const std::shared_ptr<host::Segment> segment_;
  const int cores_;
  std::string address_;
  base::Descriptor listener_;
  std::map<Id, Guest> guests_;  // in order of arrival
  Id last_id_ = 0;
  std::vector<Place> places_;
  Store store_;
  std::string loss_;      // which member was lost first; empty = none
  std::string hopeless_;  // why this job can never be complete; empty = it can
  bool complete_ = false;
  std::function<void(Rank)> on_lost_;
};

}  // namespace tutti::launcher
