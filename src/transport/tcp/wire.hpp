// SPDX-License-Identifier: BSD-3-Clause
// What goes over a connection: first a greeting, in which both ends show that they know the job's secret; then headers,
// some of them with bytes behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/siphash.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::tcp {

/// Bytes of a message that are sent without asking.
inline constexpr std::size_t eager = 16384;
inline constexpr std::uint32_t magic = 0x50435454;  // "TTCP"
inline constexpr std::uint32_t version = 2;

enum class Word : std::uint8_t {
  bytes = 1,  ///< A small message; its bytes follow.
  announce,   ///< A large one waits; `handle` is the sender's name for it.
  ready,      ///< To the sender of `handle`: send it, to `place`.
  data,       ///< The bytes of a large message follow, for `place`.
  dropped,    ///< To the sender of `handle`: nobody wants it.
  withdrawn,  ///< What was announced as `handle` does not come.
  credit,     ///< `size` more bytes of small messages may be on their way.
  beat,       ///< Nothing: its sender has had nothing else to say.
};

/// In the order of bytes of the machine, which the greeting compares.
struct Header {
  std::uint64_t context = 0, sequence = 0;
  std::uint64_t size = 0, handle = 0, place = 0;
  std::uint32_t message = 0, signature = 0;
  std::uint32_t start = magic;
  std::uint8_t lane = 0;
  Word word = Word::bytes;
  std::uint16_t zero = 0;

  Tag tag() const { return {context, sequence, message, static_cast<Lane>(lane)}; }
  /// How many bytes follow.
  std::uint64_t follows() const { return word == Word::bytes || word == Word::data ? size : 0; }
  /// Whether it can mean anything. Of `data` the receiver knows the size.
  bool good() const;
};
static_assert(sizeof(Header) == 56 && std::is_trivially_copyable_v<Header>);

Header header_of(Word word, const Tag& tag);

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
