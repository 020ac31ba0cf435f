// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/server.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <variant>

#include "launch/system.hpp"

namespace tutti::launcher {

namespace {

std::string name(Rank rank) { return "rank " + std::to_string(rank); }

}  // namespace

Server::Server(launch::Loop& loop, const launch::Secret& secret, std::shared_ptr<host::Segment> segment, int cores)
    : Rendezvous(loop, segment->size()),
      secret_(secret),
      segment_(std::move(segment)),
      cores_(cores),
      address_(launch::job_address(segment_->header().job)),
      processes_(static_cast<std::size_t>(size())) {
  listen(launch::listen_at(launch::Address(address_)));
}

Server::~Server() {
  for (const base::Descriptor& process : processes_)
    if (process) loop_.unwatch(process.get());
}

void Server::accepted(base::Descriptor socket) {
  const Id id = admit(std::move(socket));
  const uid_t uid = guest(id).connection.peer().uid;
  if (uid != geteuid())
    refuse(id, "this process belongs to user " + std::to_string(uid) + ", the job to user " +
                   std::to_string(geteuid()) + "; all processes of a job must run as the same user");
}

void Server::greet(Id id, Guest& guest, const launch::Message& message) {
  const auto* hello = std::get_if<launch::Hello>(&message);
  if (hello == nullptr) return hang_up(id);
  if (const std::string reason = objection(guest, *hello); !reason.empty()) return refuse(id, reason);
  const launch::Welcome welcome{size(), cores_, segment_->header().job};
  if (hello->purpose == launch::Purpose::lifeline) {
    make_lifeline(id, hello->rank);
    return send(id, welcome);
  }
  const pid_t pid = guest.connection.peer().pid;
  take_seat(id, hello->rank, pid);
  // A forked child of the rank may hold the connection beyond the rank's end; the process itself tells in any case.
  base::Descriptor& process = processes_[static_cast<std::size_t>(hello->rank)];
  process = launch::watch_process(pid);
  if (process) loop_.watch(process.get(), EPOLLIN, [this, rank = hello->rank](std::uint32_t) { process_ended(rank); });
  send(id, welcome, segment_->descriptor());
}

std::string Server::objection(const Guest& guest, const launch::Hello& hello) const {
  if (hello.version != host::wire_version)
    return "the program's Tutti speaks wire version " + std::to_string(hello.version) + ", the launcher's version " +
           std::to_string(host::wire_version) + "; use a `tutti` and a library of the same installation";
  if (!launch::same(hello.secret, secret_))
    return "the secret is wrong: TUTTI_SECRET does not belong to the job at " + address_ +
           "; start the program with `tutti run`, or unset all TUTTI_ variables to run it alone";
  if (const std::string problem = size_objection(hello.size); !problem.empty()) return problem;
  if (hello.purpose == launch::Purpose::control) return seat_objection(hello.rank);
  if (seat(hello.rank) != Seat::joining || pid(hello.rank) != guest.connection.peer().pid)
    // The job may have been given up between a rank's two connections: that is the reason it can use.
    return hopeless().empty() ? name(hello.rank) + " opened a lifeline without joining first" : hopeless();
  return {};
}

void Server::vacated(Rank rank) {
  base::Descriptor& process = processes_[static_cast<std::size_t>(rank)];
  if (process) loop_.unwatch(process.get());
  process.reset();
}

void Server::lost(Rank rank, Seat was) {
  segment_->declare_dead(rank);
  if (was == Seat::member && on_lost_) on_lost_(rank);
}

void Server::process_ended(Rank rank) {
  // Its last words may still lie in the socket.
  hear_out(speaker(rank));
  lose(rank);
}

void Server::ended(Rank rank, pid_t process) {
  if (seat(rank) == Seat::empty)
    cancel_seat(rank, name(rank) + " ended without joining; every rank of a job must start Tutti, or none");
  else if (pid(rank) == process)
    process_ended(rank);
}

}  // namespace tutti::launcher
