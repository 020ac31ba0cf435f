// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/door.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/words.hpp"

namespace tutti::transport::tcp {

namespace {

/// So many callers at a time; the system keeps the others.
constexpr std::size_t most_callers = 256;
/// So many may be slow: most likely they compute.
constexpr std::size_t most_slow_callers = most_callers / 2;
/// An address from which nothing is heard may be one that leads nowhere: then the next one is tried, if there is one.
constexpr std::uint64_t patience_of_address = 100'000'000;
/// And one whose system answers may be a stranger's.
constexpr std::uint64_t patience_of_process = 1'000'000'000;
/// A host that answers others may keep a caller out for so long: so many call at a process of it that computes.
constexpr std::uint64_t patience_of_host = 600'000'000'000;
/// Of the time between two looks no more counts against others: in the rest this process computed.
constexpr std::uint64_t longest_look = 250'000'000;
constexpr std::uint32_t either_way = EPOLLIN | EPOLLOUT | EPOLLET;

std::string told(const Greeting& attempt) {
  if (attempt.error() != 0) return std::strerror(attempt.error());
  switch (attempt.state()) {
    case Greeting::State::calling:
      return "no answer";
    case Greeting::State::challenge:
      return "its system answers, the process does not";
    case Greeting::State::refused:
      return "another program answers";
    default:
      return "it hung up";
  }
}

}  // namespace

Door::Door(const Identity& identity, Patience patience, Owner owner)
    : identity_(identity), patience_(patience), owner_(std::move(owner)), looked_(base::now()) {}

void Door::listen(const std::vector<std::string>& places) {
  listeners_ = listen_at_all(places);
  for (const base::Descriptor& listener : listeners_) events_.add(listener.get(), EPOLLIN);
}

std::string Door::addresses() const {
  std::string all;
  for (const base::Descriptor& listener : listeners_) base::add_word(all, Address::of(listener.get()).text(), " ");
  return all;
}

void Door::call(Peer peer, const std::string& addresses) {
  std::vector<Address> all = parse_all(addresses);
  std::ranges::reverse(all);
  const std::uint64_t now = base::now();
  calls_.push_back({.peer = peer,
                    .left = std::move(all),
                    .deadline = now + patience_.call,
                    .dialled = now,
                    .last = now + std::max(patience_.call, patience_of_host)});
  dial(calls_.back(), now);
}

/// Tries the next address that the system can call.
void Door::dial(Call& call, std::uint64_t now) {
  while (!call.left.empty()) {
    call.dialled = now;
    const Address address = call.left.back();
    call.left.pop_back();
    base::Descriptor socket = begin_call(address);
    if (!socket) call.note(address, std::strerror(errno));
    // EAGAIN: so many call at a Unix socket that it takes no more for now.
    if (!socket && (is_want(errno) || errno == EAGAIN)) {
      call.absent = false;
      call.again.push_back(address);
      return;
    }
    if (!socket) {
      call.absent = call.absent && errno == ECONNREFUSED;
      continue;
    }
    events_.add(socket.get(), either_way);
    call.attempts.push_back(
        {address, Greeting(identity_, std::move(socket), Greeting::Callee{call.peer, patience_.word})});
    return;
  }
}

void Door::give_up(Peer peer) {
  std::erase_if(calls_, [&](const Call& call) { return call.peer == peer; });
}

bool Door::progress() {
  events_.look();  // from here on others are news
  const std::uint64_t now = base::now();
  excuse(now);
  accept(now);
  std::vector<Call> ended = call_all(now);
  const bool answered = answer_all(now);
  // Only now: the peer's own call may have come through, or have ended at the same time.
  for (Call& call : ended)
    if (owner_.wants(call.peer) && !has_called(call.peer)) owner_.fail(call.peer, call.failure());
  listen_or_not(now);
  return answered || !ended.empty();
}

/// What others did while this process did not look it could not hear.
void Door::excuse(std::uint64_t now) {
  const std::uint64_t before = std::exchange(looked_, now);
  const auto unseen = [now](std::uint64_t since, std::uint64_t patience) {
    return now - since - std::min({now - since, longest_look, patience / 2});
  };
  for (Call& call : calls_) {
    const std::uint64_t more = unseen(std::max(before, call.dialled), patience_.call);
    call.deadline += more;
    call.last += more;
  }
  for (const auto& caller : callers_) caller->postpone(unseen(before, patience_.stranger));
}

void Door::accept(std::uint64_t now) {
  if (now < deaf_until_) return;
  for (const base::Descriptor& listener : listeners_) {
    while (callers_.size() < most_callers) {
      base::Descriptor socket = accept_from(listener.get());
      if (!socket && is_want(errno)) go_deaf(now, errno);
      if (!socket) break;
      events_.add(socket.get(), either_way);
      callers_.push_back(
          std::make_unique<Greeting>(identity_, std::move(socket), Greeting::Until{now + patience_.stranger}));
    }
  }
}

/// For want of descriptors. Those who call are there, and wait.
void Door::go_deaf(std::uint64_t now, int error) {
  deaf_until_ = now + pause_in_want;
  if (std::exchange(told_deaf_, true)) return;
  base::log("rank " + std::to_string(identity_.rank) + ": other ranks cannot be let in yet: " + std::strerror(error) +
            "; allow more (ulimit -n)");
}

/// While it lets nobody in it is not told that somebody has called: who waits for its events could not sleep.
void Door::listen_or_not(std::uint64_t now) {
  const bool can = callers_.size() < most_callers && now >= deaf_until_;
  if (std::exchange(listening_, can) == can) return;
  for (const base::Descriptor& listener : listeners_)
    can ? events_.add(listener.get(), EPOLLIN) : events_.remove(listener.get());
}

/// Whether this one's own call to the peer is to be used, and not the peer's.
bool Door::comes_first(Peer peer) {
  const auto call = std::ranges::find(calls_, peer, &Call::peer);
  return identity_.rank < peer && call != calls_.end() && call->chosen() != nullptr;
}

bool Door::has_called(Peer peer) const {
  return std::ranges::any_of(callers_, [&](const auto& one) { return one->peer() == peer; });
}

bool Door::answer_all(std::uint64_t now) {
  std::vector<std::unique_ptr<Greeting>> entered;
  const std::size_t before = callers_.size();
  std::erase_if(callers_, [&](std::unique_ptr<Greeting>& one) {
    switch (one->advance()) {
      case Greeting::State::refused:
        turn_away("it does not belong to this job");
        return true;
      case Greeting::State::gone:
        return true;
      case Greeting::State::known:
        if (!owner_.wants(one->peer())) return true;
        if (!comes_first(one->peer())) entered.push_back(std::move(one));
        return one == nullptr;
      default:
        return false;
    }
  });
  hang_up(now);
  for (const auto& one : entered) {
    if (!owner_.wants(one->peer())) continue;  // it has called twice
    give_up(one->peer());
    one->let_in();
    enter(*one);
  }
  return callers_.size() != before;
}

/// On those who are too slow, where others need their places. They may be ranks that compute, and call again.
void Door::hang_up(std::uint64_t now) {
  const std::size_t may_stay = now < deaf_until_ ? 0 : most_slow_callers;
  std::size_t surplus = callers_.size() - std::min(callers_.size(), may_stay);
  std::erase_if(callers_, [&](const std::unique_ptr<Greeting>& one) {
    if (surplus == 0 || now <= one->deadline()) return false;
    --surplus;
    return true;
  });
}

Greeting* Door::Call::in(std::initializer_list<Greeting::State> states) {
  const auto found = std::ranges::find_if(
      attempts, [&](const Attempt& one) { return std::ranges::find(states, one.greeting.state()) != states.end(); });
  return found == attempts.end() ? nullptr : &found->greeting;
}

void Door::Call::note(const Address& address, std::string what) {
  const auto known = std::ranges::find_if(said, [&](const auto& one) { return one.first.text() == address.text(); });
  if (known != said.end())
    known->second = std::move(what);
  else
    said.emplace_back(address, std::move(what));
}

Door::Failure Door::Call::failure() {
  for (const Attempt& one : attempts) note(one.address, told(one.greeting));
  Failure failure{absent && attempts.empty() && again.empty(), {}};
  for (const auto& [address, what] : said) base::add_word(failure.said, address.text() + " (" + what + ")");
  return failure;
}

/// A system that lets nobody in for want of room is silent, like one that is not there. Where another process of that
/// host answers it is there.
bool Door::is_late(Call& call, std::uint64_t now) {
  if (now <= call.deadline) return false;
  const auto is_there = [this](const Address& address) { return owner_.answers(address); };
  const bool there =
      std::ranges::any_of(call.again, is_there) || std::ranges::any_of(call.attempts, is_there, &Attempt::address);
  if (!there || now > call.last) return true;
  say_late(call, now);
  call.deadline = now + patience_.call;
  return false;
}

/// Patience without a word looks like a hang.
void Door::say_late(Call& call, std::uint64_t now) {
  if (std::exchange(told_late_, true)) return;
  constexpr std::uint64_t second = 1'000'000'000;
  base::log("rank " + std::to_string(identity_.rank) + ": rank " + std::to_string(call.peer) + " has not answered at " +
            call.failure().said + ", but others of its host have; it is called for up to " +
            std::to_string((call.last - now) / second) +
            " s more. If a firewall stands between them, open its ports; of other ranks nothing is said");
}

/// True when it has ended: it is through when the chosen attempt is open.
bool Door::advance(Call& call, std::uint64_t now) {
  const auto failed = std::erase_if(call.attempts, [&](Attempt& one) {
    const Greeting::State state = one.greeting.advance();
    if (state == Greeting::State::again) call.again.push_back(one.address);
    if (state < Greeting::State::refused) return false;
    call.note(one.address, told(one.greeting));
    const bool answered = state == Greeting::State::again && one.greeting.error() != ETIMEDOUT;
    call.absent = call.absent && (state == Greeting::State::absent || answered);
    return true;
  });
  if (Greeting* const found = call.in({Greeting::State::found}); found != nullptr && call.chosen() == nullptr)
    found->answer();
  if (Greeting* const chosen = call.chosen()) return chosen->state() == Greeting::State::open;
  // Whose system has answered is there, and computes.
  const bool answers = call.in({Greeting::State::challenge, Greeting::State::found}) != nullptr;
  const bool due = now - call.dialled > (answers ? patience_of_process : patience_of_address);
  const bool late = is_late(call, now);
  // An address that says nothing does not hold up those that have answered.
  if (due && !answers && call.left.empty() && !late) call.left.swap(call.again);
  if (due || failed > 0 || call.attempts.empty()) dial(call, now);
  const bool nobody_left = call.attempts.empty() && call.again.empty();
  return nobody_left || (late && !answers);
}

/// Those that have ended; whichever is through has entered.
std::vector<Door::Call> Door::call_all(std::uint64_t now) {
  std::vector<Call> ended;
  std::erase_if(calls_, [&](Call& call) {
    if (!advance(call, now)) return false;
    ended.push_back(std::move(call));
    return true;
  });
  for (Call& call : ended)
    if (Greeting* const chosen = call.chosen()) enter(*chosen);
  return ended;
}

void Door::close_copies() {
  for (base::Descriptor& listener : listeners_) listener.reset();
  for (const auto& caller : callers_) caller->close_copy();
  for (Call& call : calls_)
    for (Attempt& attempt : call.attempts) attempt.greeting.close_copy();
  events_.close_copy();
}

void Door::enter(Greeting& greeting) {
  base::Descriptor socket = greeting.take();
  events_.remove(socket.get());
  owner_.enter(greeting.peer(), std::move(socket));
}

void Door::turn_away(const char* why) {
  if (std::exchange(told_, true)) return;
  base::log("rank " + std::to_string(identity_.rank) + ": a connection was refused: " + why +
            "; others will be refused without a word");
}

}  // namespace tutti::transport::tcp
