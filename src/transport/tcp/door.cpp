// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/door.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

namespace {

/// Who has called and not proved who he is: so many, and so long. The oldest goes first.
constexpr std::size_t most_strangers = 64;
constexpr std::uint64_t strangers_patience = 5'000'000'000;
/// An address from which nothing is heard may be one that leads nowhere: then the next one is tried, if there is one.
constexpr std::uint64_t patience_of_address = 1'000'000'000;
constexpr std::uint32_t either_way = EPOLLIN | EPOLLOUT | EPOLLET;

}  // namespace

Door::Door(const Identity& identity, std::uint64_t patience, Owner owner)
    : identity_(identity), patience_(patience), owner_(std::move(owner)) {}

void Door::listen(const std::string& address) {
  const auto parsed = Address::parse(address);
  if (!parsed)
    throw Error(Cause::usage, address + " is no address; write tcp:10.0.0.1:0, tcp:[fd00::1]:0 or unix:@name");
  listeners_.push_back(listen_at(*parsed));
  events_.add(listeners_.back().get(), EPOLLIN);
}

std::string Door::addresses() const {
  std::string all;
  for (const base::Descriptor& listener : listeners_)
    all += (all.empty() ? "" : " ") + Address::of(listener.get()).text();
  return all;
}

void Door::call(Peer peer, const std::string& addresses) {
  std::vector<Address> all = parse_all(addresses);
  std::ranges::reverse(all);  // the last is tried next
  calls_.push_back({peer, std::move(all), nullptr, base::now() + patience_, 0});
  dial(calls_.back());
}

void Door::dial(Call& call) {
  call.greeting.reset();
  while (call.greeting == nullptr && !call.left.empty()) {
    base::Descriptor socket = begin_call(call.left.back());
    call.left.pop_back();
    if (!socket) continue;
    events_.add(socket.get(), either_way);
    call.greeting = std::make_unique<Greeting>(identity_, std::move(socket), call.peer, call.deadline);
  }
  if (call.greeting == nullptr) call.deadline = 0;
  call.next_address = base::now() + patience_of_address;
}

bool Door::calling(Peer peer) const { return std::ranges::find(calls_, peer, &Call::peer) != calls_.end(); }

void Door::give_up(Peer peer) {
  std::erase_if(calls_, [&](const Call& call) { return call.peer == peer; });
}

bool Door::progress() {
  events_.look();  // from here on others are news
  accept();
  const std::uint64_t now = base::now();
  const bool answered = answer_all(now);
  return call_all(now) || answered;
}

void Door::accept() {
  for (const base::Descriptor& listener : listeners_) {
    while (base::Descriptor socket = accept_from(listener.get())) {
      events_.add(socket.get(), either_way);
      callers_.push_back(std::make_unique<Greeting>(identity_, std::move(socket), base::now() + strangers_patience));
      if (callers_.size() <= most_strangers) continue;
      turn_away("too many have called and said nothing");
      callers_.erase(callers_.begin());
    }
  }
}

/// Of two calls that meet, the lower rank's is used.
Verdict Door::decide(Peer peer) {
  const bool mine_goes_first = identity_.rank < peer && calling(peer);
  return owner_.wants(peer) && !mine_goes_first ? Verdict::welcome : Verdict::busy;
}

bool Door::answer_all(std::uint64_t now) {
  std::vector<std::unique_ptr<Greeting>> entered;
  const std::size_t before = callers_.size();
  std::erase_if(callers_, [&](std::unique_ptr<Greeting>& one) {
    const Greeting::State state = one->advance([this](Peer peer) { return decide(peer); });
    if (state == Greeting::State::refused) turn_away("it does not belong to this job");
    if (state != Greeting::State::open) return state >= Greeting::State::busy || now > one->deadline();
    entered.push_back(std::move(one));
    return true;
  });
  for (const auto& one : entered) {
    give_up(one->peer());
    let_in(*one);
  }
  return callers_.size() != before;
}

/// True when it is through.
bool Door::advance(Call& call) {
  while (call.greeting != nullptr) {
    switch (call.greeting->advance([](Peer) { return Verdict::busy; })) {
      case Greeting::State::open:
        return true;
      case Greeting::State::busy:
        call.greeting.reset();
        break;
      case Greeting::State::refused:
      case Greeting::State::gone:
        dial(call);
        break;
      default:
        return false;
    }
  }
  return false;
}

bool Door::call_all(std::uint64_t now) {
  std::vector<Call> ended;
  std::erase_if(calls_, [&](Call& call) {
    const bool through = advance(call);
    if (!through && now > call.next_address && !call.left.empty() && call.greeting != nullptr) dial(call);
    if (!through && now <= call.deadline) return false;
    if (!through) call.greeting.reset();
    ended.push_back(std::move(call));
    return true;
  });
  for (Call& call : ended) {
    if (call.greeting != nullptr)
      let_in(*call.greeting);
    else
      owner_.fail(call.peer);
  }
  return !ended.empty();
}

void Door::let_in(Greeting& greeting) {
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
