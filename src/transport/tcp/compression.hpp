// SPDX-License-Identifier: BSD-3-Clause
// Headers as what has changed since the one before on the same connection: 4 bytes instead of 56 where the same call is
// made again. As in V. Jacobson, Compressing TCP/IP headers for low-speed serial links, RFC 1144; but on a connection
// that loses nothing.
//
//     length of all this | lane, word | which fields differ | each difference, in 7 bits a byte | zeros
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "transport/header.hpp"

namespace tutti::transport::tcp {

/// No compressed header is longer; those of large messages' pieces are all as long, so that their reader can ask the
/// system for the header alone.
inline constexpr std::size_t longest_header = 64;

struct Compressed {
  std::array<std::byte, longest_header> bytes{};
  std::size_t size = 0;

  std::span<const std::byte> used() const { return std::span(bytes).first(size); }
};

/// The sender's end. Headers must leave in the order in which they are compressed.
class Compressor {
 public:
  Compressed compress(const Header& header);

 private:
  Header last_;
};

/// The receiver's end.
class Expander {
 public:
  /// How long the header is that begins with this byte; 0 when none does.
  static std::size_t size(std::byte first);
  /// The header of these bytes, which are size(bytes[0]). False: they are none.
  bool expand(std::span<const std::byte> bytes, Header& header);

 private:
  Header last_;
};

}  // namespace tutti::transport::tcp
