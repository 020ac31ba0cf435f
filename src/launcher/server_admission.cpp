// SPDX-License-Identifier: BSD-3-Clause
// What guests of the rendezvous say, and what they are told.
#include <sys/epoll.h>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "launch/system.hpp"
#include "launcher/server.hpp"

namespace tutti::launcher {

namespace {

std::string name(Rank rank) { return "rank " + std::to_string(rank); }

}  // namespace

void Server::handle(Id id, const launch::Message& message) {
  Guest& guest = guests_.at(id);
  if (const auto* hello = std::get_if<launch::Hello>(&message); hello != nullptr && guest.stage == Stage::greeting) {
    if (const std::string reason = objection(guest, *hello); !reason.empty()) return refuse(id, reason);
    return take_seat(id, guest, *hello);
  }
  if (guest.stage != Stage::control) return hang_up(id);
  const Seat seat = place(guest.rank).seat;
  if (std::holds_alternative<launch::Ready>(message) && seat == Seat::joining) return become_ready(guest.rank);
  if (std::holds_alternative<launch::Bye>(message) && seat == Seat::member) return leave(guest.rank);
  if (const auto* content = std::get_if<launch::Put>(&message)) return put(id, *content);
  if (const auto* content = std::get_if<launch::Get>(&message)) return get(id, *content);
  hang_up(id);
}

std::string Server::objection(const Guest& guest, const launch::Hello& hello) const {
  if (hello.version != host::wire_version)
    return "the program's Tutti speaks wire version " + std::to_string(hello.version) + ", the launcher's version " +
           std::to_string(host::wire_version) + "; use a `tutti` and a library of the same installation";
  if (!launch::same(hello.secret, secret_))
    return "the secret is wrong: TUTTI_SECRET does not belong to the job at " + address_ +
           "; start the program with `tutti run`, or unset all TUTTI_ variables to run it alone";
  if (hello.size != static_cast<std::int32_t>(places_.size()))
    return "TUTTI_SIZE is " + std::to_string(hello.size) + ", but the job has " + std::to_string(places_.size()) +
           " ranks; leave the variable as `tutti run` sets it";
  if (hello.purpose == launch::Purpose::control) return seat_objection(hello);
  const Place& seat = place(hello.rank);
  if (seat.seat != Seat::joining || seat.pid != guest.connection.peer().pid)
    // The job may have been given up between a rank's two connections: that is the reason it can use.
    return hopeless_.empty() ? name(hello.rank) + " opened a lifeline without joining first" : hopeless_;
  return {};
}

std::string Server::seat_objection(const launch::Hello& hello) const {
  const Place& seat = place(hello.rank);
  const std::string process = " (process " + std::to_string(seat.pid) + ")";
  constexpr char advice[] = "; a program can take part once in a job: unset the TUTTI_ variables for a second one";
  switch (seat.seat) {
    case Seat::empty:
      return hopeless_;
    case Seat::left:
      return name(hello.rank) + " has already taken part and left" + process + advice;
    case Seat::lost:
      return !complete_ ? hopeless_ : name(hello.rank) + " has already taken part and ended" + process + advice;
    default:
      return name(hello.rank) + " is taken by a process that is still there" + process + advice;
  }
}

void Server::take_seat(Id id, Guest& guest, const launch::Hello& hello) {
  loop_.cancel(guest.deadline);
  const auto size = static_cast<std::int32_t>(places_.size());
  const launch::Welcome welcome{size, cores_, segment_->header().job};
  guest.rank = hello.rank;
  if (hello.purpose == launch::Purpose::lifeline) {
    guest.stage = Stage::lifeline;
    return send(id, welcome);
  }
  guest.stage = Stage::control;
  Place& seat = place(hello.rank);
  seat.seat = Seat::joining;
  seat.pid = guest.connection.peer().pid;
  seat.control = id;
  // A forked child of the rank may hold the connection beyond the rank's end; the process itself tells in any case.
  seat.process = launch::watch_process(seat.pid);
  if (seat.process)
    loop_.watch(seat.process.get(), EPOLLIN, [this, rank = hello.rank](std::uint32_t) { process_ended(rank); });
  send(id, welcome, segment_->descriptor());
}

void Server::become_ready(Rank rank) {
  place(rank).seat = Seat::ready;
  for (const Place& seat : places_)
    if (seat.seat != Seat::ready) return;
  complete_ = true;
  for (Place& seat : places_) seat.seat = Seat::member;
  for (const Place& seat : places_) send(seat.control, launch::Go{});
}

void Server::put(Id id, const launch::Put& put) {
  const std::string problem = store_.put(put.key, put.value);
  if (!problem.empty()) return send(id, launch::Failed{put.number, problem});
  send(id, launch::Stored{put.number});
  for (const Store::Question& question : store_.take(put.key))
    send(question.asker, launch::Value{question.number, put.value});
}

void Server::get(Id id, const launch::Get& get) {
  if (const std::vector<std::byte>* value = store_.find(get.key)) return send(id, launch::Value{get.number, *value});
  // Who would put it may be the one that is lost: better an error than a wait for ever.
  if (!loss_.empty()) return fail({id, get.number}, get.key);
  if (!store_.wait(get.key, {id, get.number}))
    send(id, launch::Failed{get.number, "too many questions of this rank are open; let some be answered first"});
}

void Server::fail(const Store::Question& question, const std::string& key) {
  send(question.asker, launch::Failed{question.number, "the value \"" + key + "\" will not come: " + loss_});
}

}  // namespace tutti::launcher
