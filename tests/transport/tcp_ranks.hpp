// SPDX-License-Identifier: BSD-3-Clause
// What the tests of tcp share: ranks in one thread, and callers by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp.hpp"

namespace tutti::transport::tcp {

inline constexpr std::uint64_t patience = 20'000'000'000;
inline const base::Key secret{std::byte{1}, std::byte{2}, std::byte{3}};

/// Some ranks of a job, all in this thread.
class Ranks {
 public:
  explicit Ranks(int size, int flows = 4, std::uint64_t patience_of_hosts = patience,
                 const std::string& where = "tcp:127.0.0.1:0") {
    for (Peer rank = 0; rank < size; ++rank) {
      Options options;
      options.identity = identity(rank, size);
      options.listen = {where};
      options.patience = patience_of_hosts;
      options.find = [this](Peer peer) { return all_[static_cast<std::size_t>(peer)]->addresses(); };
      options.flows = flows;
      all_.push_back(listen(options));
    }
  }
  static Identity identity(Peer rank, int size) { return {.job = 9, .rank = rank, .size = size, .secret = secret}; }
  void end(Peer rank) { all_[static_cast<std::size_t>(rank)].reset(); }
  Tcp& operator[](Peer rank) { return *all_[static_cast<std::size_t>(rank)]; }
  void progress() {
    for (const auto& one : all_)
      if (one != nullptr) one->progress();
  }
  template <class Done>
  bool until(Done done) {
    for (const std::uint64_t end = base::now() + patience; !done(); progress())
      if (base::now() > end) return false;
    return true;
  }

 private:
  std::vector<std::unique_ptr<Tcp>> all_;
};

inline Transfer transfer(Peer peer, std::uint32_t message, std::span<std::byte> bytes) {
  Transfer made;
  made.peer = peer;
  made.tag = {.context = 4, .message = message};
  made.data = bytes.data();
  made.size = bytes.size();
  return made;
}

/// Both can send to each other, in order.
inline void expect_a_connection(Ranks& ranks) {
  constexpr std::uint32_t count = 20;
  std::vector<std::array<std::byte, 4>> out(2 * count), in(2 * count);
  std::vector<Transfer> sends, receives;
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    out[i].fill(static_cast<std::byte>(i));
    sends.push_back(transfer(i % 2 == 0 ? 1 : 0, 5, out[i]));
    receives.push_back(transfer(i % 2 == 0 ? 0 : 1, 5, in[i]));
  }
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    ranks[static_cast<Peer>(i % 2)].send(sends[i]);
    ranks[static_cast<Peer>(1 - i % 2)].recv(receives[i]);
  }
  EXPECT_TRUE(ranks.until(
      [&] { return std::ranges::none_of(receives, [](const Transfer& one) { return one.state == State::pending; }); }));
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    EXPECT_EQ(receives[i].state, State::done);
    EXPECT_EQ(in[i], out[i]);
  }
}

/// Of a caller by hand, who answers as soon as he may.
inline bool opens(Greeting& greeting) {
  if (greeting.advance() == Greeting::State::found) greeting.answer();
  return greeting.state() == Greeting::State::open;
}

inline base::Descriptor call(Tcp& whom) {
  base::Descriptor socket = begin_call(parse_all(whom.addresses()).front());
  EXPECT_TRUE(socket);
  return socket;
}

inline void write_all(int socket, std::span<const std::byte> bytes) {
  // The other end may have hung up already.
  if (!bytes.empty() && send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
}

}  // namespace tutti::transport::tcp
