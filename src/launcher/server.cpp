// SPDX-License-Identifier: BSD-3-Clause
// Connections and seats. What guests are told is in server_admission.cpp.
#include "launcher/server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launch/system.hpp"

namespace tutti::launcher {

namespace {

constexpr std::chrono::seconds greeting_time{5};
constexpr std::chrono::milliseconds pause_without_descriptors{100};
constexpr int accepted_at_once = 64;
constexpr std::size_t least_greeting_limit = 256;

}  // namespace

Server::Server(Loop& loop, const launch::Secret& secret, std::shared_ptr<host::Segment> segment, int cores)
    : loop_(loop),
      secret_(secret),
      segment_(std::move(segment)),
      cores_(cores),
      address_(launch::job_address(segment_->header().job)),
      listener_(launch::listen_at(launch::Address(address_))),
      places_(static_cast<std::size_t>(segment_->size())) {
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_some(); });
}

Server::~Server() {
  loop_.unwatch(listener_.get());
  for (Place& place : places_)
    if (place.process) loop_.unwatch(place.process.get());
  while (!guests_.empty()) close(guests_.begin()->first);
}

void Server::accept_some() {
  for (int i = 0; i < accepted_at_once; ++i) {
    base::Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      admit(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      if (make_room()) continue;
      loop_.unwatch(listener_.get());
      loop_.after(pause_without_descriptors,
                  [this] { loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_some(); }); });
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Server::admit(base::Descriptor socket) {
  const auto greeting =
      std::ranges::count_if(guests_, [](const auto& entry) { return entry.second.stage == Stage::greeting; });
  if (static_cast<std::size_t>(greeting) >= std::max(least_greeting_limit, 4 * places_.size())) make_room();
  const Id id = ++last_id_;
  Guest guest{launch::Connection(std::move(socket))};
  guest.deadline = loop_.after(greeting_time, [this, id] { close(id); });
  const uid_t uid = guest.connection.peer().uid;
  watch(id, guests_.emplace(id, std::move(guest)).first->second);
  if (uid != geteuid())
    refuse(id, "this process belongs to user " + std::to_string(uid) + ", the job to user " +
                   std::to_string(geteuid()) + "; all processes of a job must run as the same user");
}

/// Drops the guest that has taken longest to say who it is.
bool Server::make_room() {
  const auto oldest =
      std::ranges::find_if(guests_, [](const auto& entry) { return entry.second.stage == Stage::greeting; });
  if (oldest == guests_.end()) return false;
  close(oldest->first);
  return true;
}

void Server::watch(Id id, Guest& guest) {
  // A guest who does not take its answers is not listened to; a lifeline is never listened to.
  const std::uint32_t events = !guest.connection.flushed()      ? EPOLLOUT
                               : guest.stage == Stage::lifeline ? EPOLLRDHUP
                                                                : EPOLLIN;
  loop_.watch(guest.connection.descriptor(), events, [this, id](std::uint32_t seen) { serve(id, seen); });
}

void Server::serve(Id id, std::uint32_t events) {
  Guest& guest = guests_.at(id);
  if (!guest.connection.flushed()) {
    if (!guest.connection.flush()) return hang_up(id);
    if (!guest.connection.flushed()) return;
    if (guest.stage == Stage::refused) return close(id);
    watch(id, guest);
  } else if (guest.stage == Stage::lifeline) {
    close(id);  // Only its hang-up is watched for.
  } else if (events != 0) {
    handle_input(id);
  }
}

void Server::handle_input(Id id) {
  auto guest = guests_.find(id);
  const bool open = guest->second.connection.read();
  for (;;) {
    const launch::Parsed parsed = guest->second.connection.next();
    if (parsed.outcome == launch::Parsed::Outcome::malformed) return hang_up(id);
    if (parsed.outcome == launch::Parsed::Outcome::incomplete) break;
    handle(id, parsed.message);
    guest = guests_.find(id);
    if (guest == guests_.end() || guest->second.stage == Stage::refused) return;
  }
  if (!open) hang_up(id);
}

void Server::send(Id id, const launch::Message& message, int attached) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  guest->second.connection.send(message, attached);
  // A failure shows as a hang-up when the loop turns.
  guest->second.connection.flush();
  watch(id, guest->second);
}

void Server::refuse(Id id, const std::string& reason) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  guest->second.stage = Stage::refused;
  send(id, launch::Refused{reason.substr(0, launch::longest_reason)});
  if (guest->second.connection.flushed()) close(id);
}

void Server::close(Id id) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  loop_.cancel(guest->second.deadline);
  loop_.unwatch(guest->second.connection.descriptor());
  store_.forget(id);
  guests_.erase(guest);
}

void Server::hang_up(Id id) {
  const Guest& guest = guests_.at(id);
  const Rank rank = guest.stage == Stage::control ? guest.rank : -1;
  close(id);
  if (rank >= 0) lose(rank);
}

void Server::leave(Rank rank) {
  Place& seat = place(rank);
  seat.seat = Seat::left;
  if (seat.process) loop_.unwatch(seat.process.get());
  seat.process.reset();
  close(seat.control);
}

void Server::lose(Rank rank) {
  Place& seat = place(rank);
  if (seat.seat == Seat::left || seat.seat == Seat::lost) return;
  const bool was_member = seat.seat == Seat::member;
  seat.seat = Seat::lost;
  if (seat.process) loop_.unwatch(seat.process.get());
  seat.process.reset();
  close(seat.control);
  segment_->declare_dead(rank);
  const std::string who = "rank " + std::to_string(rank) + " (process " + std::to_string(seat.pid) + ")";
  if (!was_member) return give_up(who + " ended while it joined; look at what it printed");
  if (loss_.empty()) loss_ = who + " ended without leaving the job";
  for (const auto& [key, question] : store_.take_all()) fail(question, key);
  if (on_lost_) on_lost_(rank);
}

/// Without one of its ranks the job can never be complete: nobody shall wait for that.
void Server::give_up(const std::string& reason) {
  if (complete_ || !hopeless_.empty()) return;
  hopeless_ = reason;
  for (Place& seat : places_) {
    if (seat.seat != Seat::joining && seat.seat != Seat::ready) continue;
    seat.seat = Seat::lost;
    if (seat.process) loop_.unwatch(seat.process.get());
    seat.process.reset();
    refuse(seat.control, reason);
  }
}

void Server::process_ended(Rank rank) {
  // Its last words may still lie in the socket.
  const Id control = place(rank).control;
  if (guests_.contains(control)) handle_input(control);
  lose(rank);
}

void Server::ended(Rank rank, pid_t pid) {
  Place& seat = place(rank);
  if (seat.seat == Seat::empty) {
    seat.seat = Seat::lost;
    give_up("rank " + std::to_string(rank) + " ended without joining; every rank of a job must start Tutti, or none");
  } else if (seat.pid == pid) {
    process_ended(rank);
  }
}

}  // namespace tutti::launcher
