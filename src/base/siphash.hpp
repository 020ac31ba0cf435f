// SPDX-License-Identifier: BSD-3-Clause
// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012, doi 10.1007/978-3-642-34931-7_28): a hash that
// nobody can compute without the key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tutti::base {

using Key = std::array<std::byte, 16>;
using Digest = std::array<std::byte, 16>;

namespace siphash {

static_assert(std::endian::native == std::endian::little, "words are read and written as they lie");

struct State {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  std::uint64_t squeeze() {
    rounds(4);
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace siphash

inline Digest keyed_hash(const Key& key, std::span<const std::byte> text) {
  std::array<std::uint64_t, 2> k{}, out{};
  std::memcpy(k.data(), key.data(), sizeof k);
  siphash::State state{k[0] ^ 0x736f6d6570736575u, k[1] ^ 0x646f72616e646f6du ^ 0xee, k[0] ^ 0x6c7967656e657261u,
                       k[1] ^ 0x7465646279746573u};
  const std::uint64_t length = static_cast<std::uint64_t>(text.size()) << 56;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text = text.subspan(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    state.absorb(word);
  }
  word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  state.absorb(word | length);
  state.v2 ^= 0xee;
  out[0] = state.squeeze();
  state.v1 ^= 0xdd;
  out[1] = state.squeeze();
  return std::bit_cast<Digest>(out);
}

}  // namespace tutti::base
