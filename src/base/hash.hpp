// SPDX-License-Identifier: BSD-3-Clause
// Mixing of 64-bit words: for group contexts and signatures. Not for secrets.
#pragma once

#include <cstdint>

namespace tutti::base {

/// Finaliser of splitmix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195): every input bit moves every output
/// bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The hash of a sequence of words, one at a time.
constexpr std::uint64_t combine(std::uint64_t hash, std::uint64_t word) { return mix(hash ^ mix(word)); }

}  // namespace tutti::base
