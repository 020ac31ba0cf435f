// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/compression.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tutti::transport::tcp {

namespace {

constexpr std::size_t fields = 7;
/// Length, lane and word, which fields.
constexpr std::size_t begin = 3;
constexpr std::size_t longest_number = 10;
static_assert(begin + 5 * longest_number + 2 * 5 <= longest_header, "five fields of 64 bits, two of 32");

using Numbers = std::array<std::uint64_t, fields>;

Numbers numbers_of(const Header& header) {
  return {header.sequence, header.size, header.handle, header.place, header.context, header.message, header.signature};
}

/// Small differences are small numbers, whatever their sign.
std::uint64_t folded(std::uint64_t difference) { return difference << 1 ^ (difference >> 63 == 1 ? ~0ULL : 0); }
std::uint64_t unfolded(std::uint64_t number) { return number >> 1 ^ (number % 2 == 1 ? ~0ULL : 0); }

/// Takes a number off the front; false when none stands there.
bool take(std::span<const std::byte>& bytes, std::uint64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < std::min(bytes.size(), longest_number); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i + 1 == longest_number && byte > 1) return false;
    number |= (byte & 0x7f) << (7 * i);
    if (byte >> 7 == 1) continue;
    bytes = bytes.subspan(i + 1);
    return true;
  }
  return false;
}

}  // namespace

Compressed Compressor::compress(const Header& header) {
  const Numbers now = numbers_of(header), before = numbers_of(last_);
  Compressed result;
  result.size = begin;
  std::uint8_t differ = 0;
  for (std::size_t field = 0; field < fields; ++field) {
    if (now[field] == before[field]) continue;
    differ = static_cast<std::uint8_t>(differ | 1U << field);
    std::uint64_t rest = folded(now[field] - before[field]);
    for (; rest >= 0x80; rest >>= 7) result.bytes[result.size++] = static_cast<std::byte>(rest | 0x80);
    result.bytes[result.size++] = static_cast<std::byte>(rest);
  }
  if (header.word == Word::data) result.size = longest_header;
  result.bytes[0] = static_cast<std::byte>(result.size);
  result.bytes[1] = static_cast<std::byte>(header.lane << 4 | static_cast<int>(header.word));
  result.bytes[2] = static_cast<std::byte>(differ);
  last_ = header;
  return result;
}

std::size_t Expander::size(std::byte first) {
  const auto size = std::to_integer<std::size_t>(first);
  return size >= begin && size <= longest_header ? size : 0;
}

bool Expander::expand(std::span<const std::byte> bytes, Header& header) {
  const auto kind = std::to_integer<unsigned>(bytes[1]), differ = std::to_integer<unsigned>(bytes[2]);
  if (differ >> fields != 0) return false;
  Numbers numbers = numbers_of(last_);
  std::span rest = bytes.subspan(begin);
  for (std::size_t field = 0; field < fields; ++field) {
    if ((differ >> field) % 2 == 0) continue;
    std::uint64_t number = 0;
    if (!take(rest, number)) return false;
    numbers[field] += unfolded(number);
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto& [sequence, size, handle, place, context, message, signature] = numbers;
  if (message > most || signature > most) return false;
  if (!std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{}; })) return false;
  last_ = {.context = context,
           .sequence = sequence,
           .size = size,
           .handle = handle,
           .place = place,
           .message = static_cast<std::uint32_t>(message),
           .signature = static_cast<std::uint32_t>(signature),
           .lane = static_cast<std::uint8_t>(kind >> 4),
           .word = static_cast<Word>(kind & 0xf)};
  header = last_;
  return true;
}

}  // namespace tutti::transport::tcp
