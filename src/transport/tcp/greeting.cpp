// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/greeting.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/secrecy.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::transport::tcp {

namespace {

/// By what the system says of an end; 0: nothing. Who has hung up is there; and a system that has not acknowledged may
/// have so many callers, while its process computes, that it listens to no more.
bool may_be_there(int error) { return error == 0 || error == ECONNRESET || error == EPIPE || error == ETIMEDOUT; }

}  // namespace

Greeting::Greeting(const Identity& identity, base::Descriptor socket, Callee callee)
    : identity_(identity),
      socket_(std::move(socket)),
      state_(State::calling),
      peer_(callee.peer),
      patience_(callee.patience) {
  hello_ = {.job = identity.job, .from = identity.rank, .to = callee.peer, .nonce = random_nonce()};
}

Greeting::Greeting(const Identity& identity, base::Descriptor socket, Until deadline)
    : identity_(identity),
      socket_(std::move(socket)),
      state_(State::hello),
      peer_(-1),
      deadline_(deadline.time),
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
      if (n == 0 || errno != EAGAIN) ended(n);
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
      return errno == EAGAIN ? false : ended(n);
  }
  return true;
}

/// From here on beats ask (pulse.hpp), its buffer may be full, and processes that compute may be silent for longer than
/// a break of the network lasts.
base::Descriptor Greeting::take() {
  end_if_unanswered(socket_.get(), 0);
  ask_no_more(socket_.get());
  return std::move(socket_);
}

/// By what the system's call has returned.
bool Greeting::ended(ssize_t result) {
  error_ = result == 0 ? 0 : errno;
  const bool anew = state_ == State::challenge || state_ == State::found;
  return end(anew && may_be_there(error_) ? State::again : State::gone);
}

bool Greeting::end(State state) {
  state_ = state;
  return false;
}

Greeting::State Greeting::advance() {
  while (flush() && step()) {
  }
  return state_;
}

bool Greeting::step() {
  switch (state_) {
    case State::calling:
      return take_line();
    case State::hello:
      return take_hello();
    case State::challenge:
      return take_challenge();
    case State::answer:
      return take_answer();
    case State::found:
    case State::known:
      return still_there();
    case State::welcome:
      return take_welcome();
    default:
      return false;
  }
}

bool Greeting::take_line() {
  const Reach reach = reach_of(socket_.get());
  if (reach == Reach::failed || reach == Reach::absent) error_ = errno;
  if (reach == Reach::failed) return end(may_be_there(error_) ? State::again : State::gone);
  if (reach == Reach::absent) return end(State::absent);
  if (reach == Reach::calling) return false;
  // A process may take its time to answer, but its host may be cut off before that: nobody else would notice.
  end_if_unanswered(socket_.get(), patience_);
  say(hello_);
  state_ = State::challenge;
  return true;
}

bool Greeting::take_hello() {
  if (!hear(hello_)) return false;
  const bool ours = hello_.start == magic && hello_.version == version && hello_.job == identity_.job &&
                    hello_.to == identity_.rank && hello_.from >= 0 && hello_.from < identity_.size &&
                    hello_.from != identity_.rank;
  if (!ours) return end(State::refused);
  say(Challenge{nonce_, proof(Side::answerer, identity_, hello_, nonce_)});
  state_ = State::answer;
  return true;
}

bool Greeting::take_challenge() {
  Challenge challenge;
  if (!hear(challenge)) return false;
  if (!base::same(challenge.proof, proof(Side::answerer, identity_, hello_, challenge.nonce)))
    return end(State::refused);
  nonce_ = challenge.nonce;
  state_ = State::found;
  return true;
}

void Greeting::answer() {
  say(Answer{proof(Side::caller, identity_, hello_, nonce_)});
  state_ = State::welcome;
  advance();
}

bool Greeting::take_answer() {
  Answer answer;
  if (!hear(answer)) return false;
  if (!base::same(answer.proof, proof(Side::caller, identity_, hello_, nonce_))) return end(State::refused);
  peer_ = hello_.from;
  state_ = State::known;
  return true;
}

void Greeting::let_in() {
  say(welcome);
  state_ = State::open;
  flush();  // the connection takes so few bytes at once
}

bool Greeting::take_welcome() {
  std::uint32_t word = 0;
  if (!hear(word)) return false;
  return end(word == welcome ? State::open : State::refused);
}

/// Nothing is to be said now: what comes all the same is an end, or nonsense.
bool Greeting::still_there() {
  std::byte one;
  const ssize_t n = recv(socket_.get(), &one, 1, MSG_PEEK);
  if (n > 0) return end(State::refused);
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? false : ended(n);
}

}  // namespace tutti::transport::tcp
