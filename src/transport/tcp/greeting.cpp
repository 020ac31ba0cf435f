// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/greeting.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/secrecy.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::transport::tcp {

Greeting::Greeting(const Identity& identity, base::Descriptor socket, Peer peer, std::uint64_t deadline)
    : identity_(identity),
      socket_(std::move(socket)),
      side_(Side::caller),
      state_(State::calling),
      peer_(peer),
      deadline_(deadline) {
  hello_ = {.job = identity.job, .from = identity.rank, .to = peer, .nonce = random_nonce()};
}

Greeting::Greeting(const Identity& identity, base::Descriptor socket, std::uint64_t deadline)
    : identity_(identity),
      socket_(std::move(socket)),
      side_(Side::answerer),
      state_(State::hello),
      peer_(-1),
      deadline_(deadline),
      nonce_(random_nonce()) {}

template <class T>
void Greeting::say(const T& what) {
  static_assert(sizeof what <= sizeof out_);
  std::memcpy(out_.data(), &what, sizeof what);
  unsent_ = sizeof what;
  sent_ = 0;
}

/// Never reads past what is awaited: what comes after belongs to the connection.
template <class T>
bool Greeting::hear(T& what) {
  static_assert(sizeof what <= sizeof in_);
  while (have_ < sizeof what) {
    const ssize_t n = recv(socket_.get(), in_.data() + have_, sizeof what - have_, 0);
    if (n > 0) {
      have_ += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      if (n == 0 || errno != EAGAIN) end(State::gone);
      return false;
    }
  }
  std::memcpy(&what, in_.data(), sizeof what);
  have_ = 0;
  return true;
}

bool Greeting::flush() {
  while (sent_ < unsent_) {
    const ssize_t n = send(socket_.get(), out_.data() + sent_, unsent_ - sent_, MSG_NOSIGNAL);
    if (n > 0)
      sent_ += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      return errno == EAGAIN ? false : end(State::gone);
  }
  return true;
}

bool Greeting::end(State state) {
  state_ = state;
  return false;
}

Greeting::State Greeting::advance(const Decide& decide) {
  while (flush() && step(decide)) {
  }
  // The last word, if the connection takes it at once, as it does that of so few bytes.
  if (state_ == State::open || state_ == State::busy) flush();
  return state_;
}

bool Greeting::step(const Decide& decide) { return calls() ? step_of_caller() : step_of_answerer(decide); }

bool Greeting::step_of_caller() {
  switch (state_) {
    case State::calling:
      if (!got_through(socket_.get())) return end(State::gone);
      say(hello_);
      state_ = State::challenge;
      return true;
    case State::challenge: {
      Challenge challenge;
      if (!hear(challenge)) return false;
      if (!base::same(challenge.proof, proof(Side::answerer, identity_, hello_, challenge.nonce)))
        return end(State::refused);
      say(Answer{proof(Side::caller, identity_, hello_, challenge.nonce)});
      state_ = State::verdict;
      return true;
    }
    case State::verdict: {
      Verdict verdict{};
      if (!hear(verdict)) return false;
      if (verdict != Verdict::welcome && verdict != Verdict::busy) return end(State::refused);
      state_ = verdict == Verdict::welcome ? State::open : State::busy;
      return false;
    }
    default:
      return false;
  }
}

bool Greeting::step_of_answerer(const Decide& decide) {
  switch (state_) {
    case State::hello: {
      if (!hear(hello_)) return false;
      const bool ours = hello_.start == magic && hello_.version == version && hello_.job == identity_.job &&
                        hello_.to == identity_.rank && hello_.from >= 0 && hello_.from < identity_.size &&
                        hello_.from != identity_.rank;
      if (!ours) return end(State::refused);
      say(Challenge{nonce_, proof(Side::answerer, identity_, hello_, nonce_)});
      state_ = State::answer;
      return true;
    }
    case State::answer: {
      Answer answer;
      if (!hear(answer)) return false;
      if (!base::same(answer.proof, proof(Side::caller, identity_, hello_, nonce_))) return end(State::refused);
      peer_ = hello_.from;
      const Verdict verdict = decide(peer_);
      say(verdict);
      state_ = verdict == Verdict::welcome ? State::open : State::busy;
      return false;
    }
    default:
      return false;
  }
}

}  // namespace tutti::transport::tcp
