// SPDX-License-Identifier: BSD-3-Clause
#include "launch/lobby.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/names.hpp"

namespace tutti::launch {

namespace {

constexpr std::chrono::seconds callers_time{5}, first_reminder{3}, next_reminder{15};
constexpr std::size_t least_callers = 256;

}  // namespace

Lobby::Lobby(Loop& loop, std::vector<base::Descriptor> listeners, const Secret& secret, int size,
             std::function<void()> gone)
    : Rendezvous(loop, size), secret_(secret), gone_(std::move(gone)), cards_(static_cast<std::size_t>(size)) {
  for (base::Descriptor& listener : listeners) listen(std::move(listener));
  loop_.after(first_reminder, [this] { remind(); });
}

Lobby::~Lobby() {
  give_up("rank 0 has ended, or has given up waiting, while the job still waited for " + missing());
  pass_on_loss();
  while (!callers_.empty()) dismiss(callers_.begin()->first);
}

void Lobby::close_copies() {
  Rendezvous::close_copies();
  callers_.clear();
}

void Lobby::accepted(base::Descriptor socket) {
  if (callers_.size() >= std::max(least_callers, 2 * cards_.size())) make_room();
  const Id id = ++last_caller_;
  const auto time = static_cast<std::uint64_t>(std::chrono::nanoseconds(callers_time).count());
  const int descriptor = socket.get();
  Caller caller{Entrance(Entrance::Side::answerer, secret_, std::move(socket), base::now() + time),
                loop_.after(callers_time, [this, id] { dismiss(id); })};
  callers_.emplace(id, std::move(caller));
  loop_.watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLET, [this, id](std::uint32_t) { advance(id); });
}

void Lobby::advance(Id id) {
  Caller& caller = callers_.at(id);
  const Entrance::State state = caller.entrance.advance();
  if (state == Entrance::State::waiting) return;
  if (state == Entrance::State::open) {
    loop_.unwatch(caller.entrance.socket());
    admit(caller.entrance.take());
  } else if (state == Entrance::State::foreign) {
    log_refusal("it speaks wire version " + std::to_string(caller.entrance.theirs().wire) + "." +
                std::to_string(caller.entrance.theirs().tcp));
  } else if (state == Entrance::State::refused) {
    log_refusal("it does not know the job's secret");
  }
  dismiss(id);
}

void Lobby::dismiss(Id id) {
  const auto caller = callers_.find(id);
  if (caller == callers_.end()) return;
  loop_.cancel(caller->second.deadline);
  if (const int socket = caller->second.entrance.socket(); socket >= 0) loop_.unwatch(socket);
  callers_.erase(caller);
}

bool Lobby::make_room() {
  if (callers_.empty()) return Rendezvous::make_room();
  dismiss(callers_.begin()->first);
  return true;
}

void Lobby::log_refusal(const std::string& why) {
  if (std::exchange(told_, true)) return;
  base::log("rank 0: a connection to the job's store was refused: " + why + "; others will be refused without a word");
}

void Lobby::greet(Id id, Guest&, const Message& message) {
  const auto* join = std::get_if<Join>(&message);
  if (join == nullptr) return hang_up(id);
  std::string reason = size_objection(join->size);
  if (reason.empty()) reason = seat_objection(join->rank);
  if (!reason.empty()) return refuse(id, reason);
  take_seat(id, join->rank, join->pid);
  cards_[static_cast<std::size_t>(join->rank)] = join->card;
  if (++joined_ == size()) begin();
}

/// All have come: each learns of all others, in one message. Nobody else is welcome, and who calls all the same is of a
/// job that follows at this address, and calls again.
void Lobby::begin() {
  stop_listening();
  const auto roster = std::make_shared<const std::vector<std::byte>>(serialise(Roster{random_job(), cards_}));
  for (Rank rank = 0; rank < size(); ++rank) send(speaker(rank), roster);
}

void Lobby::vacated(Rank) { gone_(); }

/// Those who wait want to know for whom.
void Lobby::remind() {
  if (complete() || !hopeless().empty()) return;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (seat(rank) != Seat::joining && seat(rank) != Seat::ready) continue;
    if (const std::string others = missing(rank); !others.empty()) send(speaker(rank), Waiting{others});
  }
  loop_.after(next_reminder, [this] { remind(); });
}

std::string Lobby::missing(Rank waiting) const {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < size(); ++rank) {
    const Seat seat = this->seat(rank);
    if (rank != waiting && (seat == Seat::empty || (joined_ == size() && seat == Seat::joining))) ranks.push_back(rank);
  }
  return base::list_ranks(ranks).substr(0, longest_reason);
}

}  // namespace tutti::launch
