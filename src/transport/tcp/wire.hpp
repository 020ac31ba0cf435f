// SPDX-License-Identifier: BSD-3-Clause
// How a connection begins: with a greeting, in which both ends show that they know the job's secret. Then come headers,
// some of them with bytes behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/siphash.hpp"
#include "transport/header.hpp"

namespace tutti::transport::tcp {

/// Bytes of a message that are sent without asking. Where links are slow the receiver's word costs next to nothing, and
/// without it several senders would fill one link while their own stand idle.
inline constexpr std::size_t eager = 65536, eager_if_slow = 8192;
inline constexpr std::uint32_t version = 7;

/// What both ends must have in common, and who this one is.
struct Identity {
  std::uint64_t job = 0;
  Peer rank = 0;
  std::int32_t size = 1;
  base::Key secret{};
};

using Nonce = std::array<std::byte, 16>;

/// Caller to answerer.
struct Hello {
  std::uint32_t start = magic, version = tcp::version;
  std::uint64_t job = 0;
  std::int32_t from = 0, to = 0;
  Nonce nonce{};
};
/// Answerer to caller: proves that it knows the secret, and asks for the same.
struct Challenge {
  Nonce nonce{};
  base::Digest proof{};
};
/// Caller to answerer.
struct Answer {
  base::Digest proof{};
};
/// Answerer to caller: from now on there are headers. Whoever is not welcome is hung up on.
inline constexpr std::uint32_t welcome = 0x434c4557;
static_assert(sizeof(Hello) == 40 && sizeof(Challenge) == 32 && sizeof(Answer) == 16);

/// The proofs differ by who makes them: nobody can answer with what he was sent.
enum class Side : std::uint64_t { caller, answerer };
base::Digest proof(Side side, const Identity& identity, const Hello& hello, const Nonce& answerer);

/// Fresh random bytes. Throws Error (system).
Nonce random_nonce();

}  // namespace tutti::transport::tcp
