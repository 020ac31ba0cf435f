// SPDX-License-Identifier: BSD-3-Clause
// What transports between hosts write before bytes, or without any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "transport/transport.hpp"

namespace tutti::transport {

enum class Word : std::uint8_t {
  bytes = 1,  ///< A small message; its bytes follow.
  announce,   ///< A large one waits; `handle` is the sender's name for it.
  ready,      ///< To the sender of `handle`: send it, to `place`.
  data,       ///< A piece of a large message follows, for `place`; `handle` bytes of it were sent before.
  dropped,    ///< To the sender of `handle`: nobody wants it.
  withdrawn,  ///< What was announced as `handle` does not come.
  credit,     ///< `size` more bytes of small messages may be on their way.
  beat,       ///< Nothing: its sender has had nothing else to say.
  invite,     ///< To the sender of a large message, before it is sent: `size` bytes are expected at `place`.
  parted,     ///< The last: its sender has heard nothing for too long, and takes the other for lost.
  cut_off,    ///< The rest of the large message for `place` does not come: its sender has taken it back.
};

inline constexpr std::uint32_t magic = 0x54545554;  // "TUTT"

/// In the order of bytes of the machine.
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
  /// Whether it can mean anything, where small messages have at most `eager` bytes. Of `data` the receiver knows the
  /// size.
  bool good(std::size_t eager) const;
};
static_assert(sizeof(Header) == 56 && std::is_trivially_copyable_v<Header>);

Header header_of(Word word, const Tag& tag);

}  // namespace tutti::transport
