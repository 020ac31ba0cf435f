// SPDX-License-Identifier: BSD-3-Clause
// Guests: how they come, are heard and go. What they say is in seats.cpp.
#include "launch/rendezvous.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.hpp"
#include "launch/system.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::launch {

namespace {

constexpr std::chrono::seconds greeting_time{5};
constexpr std::chrono::nanoseconds pause_without_descriptors{transport::tcp::pause_in_want};
constexpr int accepted_at_once = 64;
constexpr std::size_t least_greeting_limit = 256;

}  // namespace

Rendezvous::Rendezvous(Loop& loop, int size) : loop_(loop), places_(static_cast<std::size_t>(size)) {}

Rendezvous::~Rendezvous() {
  stop_listening();
  while (!guests_.empty()) close(guests_.begin()->first);
}

void Rendezvous::close_copies() {
  // The parent's epoll watches what both have: it must not be told.
  listeners_.clear();
  for (auto& [id, guest] : guests_) guest.connection.close();
}

void Rendezvous::listen(base::Descriptor listener) {
  const int socket = listener.get();
  listeners_.push_back(std::move(listener));
  loop_.watch(socket, EPOLLIN, [this, socket](std::uint32_t) { accept_some(socket); });
}

void Rendezvous::stop_listening() {
  for (const base::Descriptor& listener : listeners_) loop_.unwatch(listener.get());
  listeners_.clear();
}

void Rendezvous::accept_some(int listener) {
  for (int i = 0; i < accepted_at_once; ++i) {
    base::Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      accepted(std::move(socket));
    } else if (transport::tcp::is_want(errno)) {
      const int want = errno;
      if (make_room()) continue;
      if (!std::exchange(told_want_, true)) base::log(system_text("no further rank can join at present", want));
      loop_.unwatch(listener);
      loop_.after(pause_without_descriptors, [this, listener] {
        if (std::ranges::find(listeners_, listener, &base::Descriptor::get) == listeners_.end()) return;
        loop_.watch(listener, EPOLLIN, [this, listener](std::uint32_t) { accept_some(listener); });
      });
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

Rendezvous::Id Rendezvous::admit(base::Descriptor socket) {
  const auto greeting =
      std::ranges::count_if(guests_, [](const auto& entry) { return entry.second.stage == Stage::greeting; });
  if (static_cast<std::size_t>(greeting) >= std::max(least_greeting_limit, 4 * places_.size())) Rendezvous::make_room();
  const Id id = ++last_id_;
  Guest guest{Connection(std::move(socket))};
  guest.deadline = loop_.after(greeting_time, [this, id] { close(id); });
  watch(id, guests_.emplace(id, std::move(guest)).first->second);
  return id;
}

bool Rendezvous::make_room() {
  const auto oldest =
      std::ranges::find_if(guests_, [](const auto& entry) { return entry.second.stage == Stage::greeting; });
  if (oldest == guests_.end()) return false;
  close(oldest->first);
  return true;
}

void Rendezvous::watch(Id id, Guest& guest) {
  // A guest who does not take its answers is not listened to; a lifeline is never listened to.
  const std::uint32_t events = !guest.connection.flushed()      ? EPOLLOUT
                               : guest.stage == Stage::lifeline ? EPOLLRDHUP
                                                                : EPOLLIN;
  loop_.watch(guest.connection.descriptor(), events, [this, id](std::uint32_t seen) { serve(id, seen); });
}

void Rendezvous::serve(Id id, std::uint32_t events) {
  Guest& guest = guests_.at(id);
  if (!guest.connection.flushed()) {
    if (!guest.connection.flush()) return hang_up(id);
    if (!guest.connection.flushed()) return;
    if (guest.stage == Stage::refused) return close(id);
    watch(id, guest);
  } else if (guest.stage == Stage::lifeline) {
    close(id);  // Only its hang-up is watched for.
  } else if (events != 0) {
    hear_out(id);
  }
}

void Rendezvous::hear_out(Id id) {
  auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  const bool open = guest->second.connection.read();
  for (;;) {
    const Parsed parsed = guest->second.connection.next();
    if (parsed.outcome == Parsed::Outcome::malformed) return hang_up(id);
    if (parsed.outcome == Parsed::Outcome::incomplete) break;
    handle(id, parsed.message);
    guest = guests_.find(id);
    if (guest == guests_.end() || guest->second.stage == Stage::refused) return;
  }
  if (!open) hang_up(id);
}

void Rendezvous::send(Id id, const Message& message, int attached) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  guest->second.connection.send(message, attached);
  push(id, guest->second);
}

void Rendezvous::send(Id id, std::shared_ptr<const std::vector<std::byte>> message) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  guest->second.connection.send(std::move(message));
  push(id, guest->second);
}

void Rendezvous::push(Id id, Guest& guest) {
  // A failure shows as a hang-up when the loop turns.
  guest.connection.flush();
  watch(id, guest);
}

void Rendezvous::refuse(Id id, const std::string& reason) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  guest->second.stage = Stage::refused;
  send(id, Refused{reason.substr(0, longest_reason)});
  if (guest->second.connection.flushed()) close(id);
}

void Rendezvous::close(Id id) {
  const auto guest = guests_.find(id);
  if (guest == guests_.end()) return;
  loop_.cancel(guest->second.deadline);
  loop_.unwatch(guest->second.connection.descriptor());
  store_.forget(id);
  guests_.erase(guest);
}

void Rendezvous::hang_up(Id id) {
  const Guest& guest = guests_.at(id);
  const Rank rank = guest.stage == Stage::control ? guest.rank : -1;
  close(id);
  if (rank >= 0) lose(rank);
}

}  // namespace tutti::launch
