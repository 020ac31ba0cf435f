// SPDX-License-Identifier: BSD-3-Clause
// The job's seats: who has come, who is ready, who has gone; and the store of those who sit there.
#include <string>
#include <utility>
#include <variant>

#include "launch/rendezvous.hpp"

namespace tutti::launch {

void Rendezvous::handle(Id id, const Message& message) {
  Guest& guest = guests_.at(id);
  if (guest.stage == Stage::greeting) return greet(id, guest, message);
  if (guest.stage != Stage::control) return hang_up(id);
  const Seat seat = place(guest.rank).seat;
  if (std::holds_alternative<Ready>(message) && seat == Seat::joining) return become_ready(guest.rank);
  if (std::holds_alternative<Bye>(message) && seat == Seat::member) return leave(guest.rank);
  if (const auto* content = std::get_if<Put>(&message)) return put(id, *content);
  if (const auto* content = std::get_if<Get>(&message)) return get(id, *content);
  hang_up(id);
}

std::string Rendezvous::seat_objection(Rank rank) const {
  const Place& seat = place(rank);
  const std::string name = "rank " + std::to_string(rank), process = " (process " + std::to_string(seat.pid) + ")";
  constexpr char advice[] = "; a program can take part once in a job: unset the TUTTI_ variables for a second one";
  switch (seat.seat) {
    case Seat::empty:
      return hopeless_;
    case Seat::left:
      return name + " has already taken part and left" + process + advice;
    case Seat::lost:
      return !complete_ ? hopeless_ : name + " has already taken part and ended" + process + advice;
    default:
      return name + " is taken by a process that is still there" + process + advice;
  }
}

std::string Rendezvous::size_objection(int size) const {
  if (size == this->size()) return {};
  return "TUTTI_SIZE is " + std::to_string(size) + ", but the job has " + std::to_string(this->size()) +
         " ranks; the variable must be the same for all of them";
}

void Rendezvous::take_seat(Id id, Rank rank, pid_t pid) {
  Guest& guest = guests_.at(id);
  loop_.cancel(guest.deadline);
  guest.stage = Stage::control;
  guest.rank = rank;
  place(rank) = {Seat::joining, pid, id};
}

void Rendezvous::make_lifeline(Id id, Rank rank) {
  Guest& guest = guests_.at(id);
  loop_.cancel(guest.deadline);
  guest.stage = Stage::lifeline;
  guest.rank = rank;
}

void Rendezvous::cancel_seat(Rank rank, const std::string& reason) {
  place(rank).seat = Seat::lost;
  give_up(reason);
}

void Rendezvous::become_ready(Rank rank) {
  place(rank).seat = Seat::ready;
  for (const Place& seat : places_)
    if (seat.seat != Seat::ready) return;
  complete_ = true;
  for (Place& seat : places_) seat.seat = Seat::member;
  // Rank 0 last: it may be this very process, and end at once.
  for (auto seat = places_.rbegin(); seat != places_.rend(); ++seat) send(seat->control, Go{});
}

void Rendezvous::leave(Rank rank) {
  Place& seat = place(rank);
  seat.seat = Seat::left;
  vacated(rank);
  close(seat.control);
}

void Rendezvous::lose(Rank rank) {
  Place& seat = place(rank);
  const Seat was = seat.seat;
  if (was == Seat::left || was == Seat::lost) return;
  seat.seat = Seat::lost;
  vacated(rank);
  close(seat.control);
  lost(rank, was);
  const std::string who = "rank " + std::to_string(rank) + " (process " + std::to_string(seat.pid) + ")";
  if (was == Seat::member) {
    if (loss_.empty()) loss_ = who + " ended without leaving the job";
    for (const auto& [key, question] : store_.take_all()) fail(question, key);
  } else {
    give_up(who + " ended while it joined; look at what it printed");
  }
}

void Rendezvous::give_up(const std::string& reason) {
  if (complete_ || !hopeless_.empty()) return;
  hopeless_ = reason;
  for (Rank rank = 0; rank < size(); ++rank) {
    Place& seat = place(rank);
    if (seat.seat != Seat::joining && seat.seat != Seat::ready) continue;
    seat.seat = Seat::lost;
    vacated(rank);
    refuse(seat.control, reason);
  }
}

void Rendezvous::pass_on_loss() {
  if (loss_.empty()) return;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (place(rank).seat != Seat::member) continue;
    // What they have asked already is answered: a question left unread would make the hang-up overtake the reason.
    hear_out(speaker(rank));
    refuse(speaker(rank), loss_ + ", and nobody serves the job's store any more");
  }
}

void Rendezvous::put(Id id, const Put& put) {
  const std::string problem = store_.put(put.key, put.value);
  if (!problem.empty()) return send(id, Failed{put.number, problem});
  send(id, Stored{put.number});
  for (const Store::Question& question : store_.take(put.key)) send(question.asker, Value{question.number, put.value});
}

void Rendezvous::get(Id id, const Get& get) {
  if (const std::vector<std::byte>* value = store_.find(get.key)) return send(id, Value{get.number, *value});
  // Who would put it may be the one that is lost: better an error than a wait for ever.
  if (!loss_.empty()) return fail({id, get.number}, get.key);
  if (!store_.wait(get.key, {id, get.number}))
    send(id, Failed{get.number, "too many questions of this rank are open; let some be answered first"});
}

void Rendezvous::fail(const Store::Question& question, const std::string& key) {
  send(question.asker, Failed{question.number, "the value \"" + key + "\" will not come: " + loss_});
}

}  // namespace tutti::launch
