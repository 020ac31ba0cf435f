// SPDX-License-Identifier: BSD-3-Clause
#include "launch/entrance.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/tcp/socket.hpp"

namespace tutti::launch {

namespace {

namespace tcp = transport::tcp;

/// The greeting is between two ranks of a job. Here it is between the store and any process that knows the secret; who
/// that is it says later.
constexpr std::uint64_t every_job = 0x65726f7473;
constexpr Rank store = 0, anyone = 1;

tcp::Identity identity(Rank rank, const Secret& secret) { return {every_job, rank, 2, secret.bytes}; }

/// A host that is switched off says nothing: its silence ends the connection after half a minute.
void watch_for_silence(int socket) {
  const auto set = [socket](int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

}  // namespace

Entrance::Entrance(Side side, const Secret& secret, base::Descriptor socket, std::uint64_t deadline)
    : side_(side),
      secret_(secret),
      socket_(std::move(socket)),
      deadline_(deadline),
      connected_(side == Side::answerer) {}

/// Nothing once both have been said and are the same.
std::optional<Entrance::State> Entrance::exchange_banners() {
  if (!connected_ && tcp::reach_of(socket_.get()) >= tcp::Reach::failed) return State::gone;
  const Banner mine;
  while (said_ < sizeof mine) {
    const char* rest = reinterpret_cast<const char*>(&mine) + said_;
    const ssize_t n = send(socket_.get(), rest, sizeof mine - said_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      said_ += static_cast<std::size_t>(n);
      connected_ = true;
    } else if (errno == EAGAIN || errno == ENOTCONN) {
      return State::waiting;  // ENOTCONN: the system still connects.
    } else if (errno != EINTR) {
      return State::gone;
    }
  }
  return hear_banner();
}

std::optional<Entrance::State> Entrance::hear_banner() {
  const Banner mine;
  while (heard_ < sizeof theirs_) {
    char* rest = reinterpret_cast<char*>(&theirs_) + heard_;
    // Never past the banner: what comes after belongs to the greeting.
    const ssize_t n = recv(socket_.get(), rest, sizeof theirs_ - heard_, MSG_DONTWAIT);
    if (n == 0) return State::gone;
    if (n < 0 && errno == EAGAIN) return State::waiting;
    if (n < 0 && errno != EINTR) return State::gone;
    if (n < 0) continue;
    heard_ += static_cast<std::size_t>(n);
    const std::size_t start = std::min(heard_, mine.start.size());
    if (std::memcmp(&theirs_, &mine, start) != 0) return State::refused;
  }
  if (theirs_ != mine) return State::foreign;
  return std::nullopt;
}

Entrance::State Entrance::advance() {
  using Greeted = tcp::Greeting::State;
  if (!greeting_) {
    if (const std::optional<State> state = exchange_banners()) return *state;
    if (side_ == Side::answerer)
      greeting_.emplace(identity(store, secret_), std::move(socket_), tcp::Greeting::Until{deadline_});
    else
      greeting_.emplace(identity(anyone, secret_), std::move(socket_), tcp::Greeting::Callee{store});
  }
  // Whoever knows the secret is welcome.
  if (greeting_->advance() == Greeted::found) greeting_->answer();
  if (greeting_->state() == Greeted::known) greeting_->let_in();
  switch (greeting_->advance()) {
    case Greeted::open:
      return State::open;
    case Greeted::refused:
      return State::refused;
    case Greeted::again:
    case Greeted::gone:
      return State::gone;
    default:
      return State::waiting;
  }
}

base::Descriptor Entrance::take() {
  base::Descriptor socket = greeting_->take();
  watch_for_silence(socket.get());
  return socket;
}

}  // namespace tutti::launch
