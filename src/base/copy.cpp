// SPDX-License-Identifier: BSD-3-Clause
// The C library copies from a few kilobytes on with rep movsb. On AMD's processors (Zen 3 and 4) that is slow where
// target and source do not begin alike in their lines, as a page's start and what malloc gives: of 64 KiB from one
// core to another 12 GB/s, where moves of 16 bytes take 37 (glibc 2.36; later ones avoid it there, too). Moves of 32
// bytes to whole lines are faster yet, where a cache of the core has the data: of 4 KiB 51 GB/s to 28, of 256 KiB 35
// to 26.
#include "base/copy.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace tutti::base {
namespace {

constexpr std::size_t block = 64;

#ifdef __x86_64__
/// Bytes before the next whole block.
std::size_t before_block(const std::byte* to) { return (block - reinterpret_cast<std::uintptr_t>(to) % block) % block; }

bool slow_instruction() { return __builtin_cpu_is("amd") != 0 && __builtin_cpu_supports("avx") != 0; }

/// At least one block.
[[gnu::target("avx")]] void copy_in_blocks(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, block);
  const std::size_t head = before_block(to);
  for (to += head, from += head, bytes -= head; bytes >= block; bytes -= block, to += block, from += block) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    const __m256i first = _mm256_loadu_si256(source), second = _mm256_loadu_si256(source + 1);
    _mm256_store_si256(target, first);
    _mm256_store_si256(target + 1, second);
  }
  std::memcpy(to, from, bytes);
}
#else
bool slow_instruction() { return false; }

void copy_in_blocks(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

void copy_large(std::byte* to, const std::byte* from, std::size_t bytes) {
  static const bool in_blocks = slow_instruction();
  in_blocks ? copy_in_blocks(to, from, bytes) : void(std::memcpy(to, from, bytes));
}

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __x86_64__
  const std::size_t head = std::min(bytes, before_block(to));
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  constexpr std::size_t vectors = block / sizeof(__m128i);
  for (; bytes >= block; bytes -= block, to += block, from += block) {
    __m128i moved[vectors];
    std::memcpy(moved, from, block);
    for (std::size_t i = 0; i < vectors; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, moved[i]);
  }
  _mm_sfence();  // such stores are ordered with no later one else, and a word may say that they are done
#endif
  std::memcpy(to, from, bytes);
}

std::size_t largest_cache() {
  static const std::size_t found = [] {
    // What sysconf says is the sum over all cores that could be.
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::size_t kilobytes = 0;
    return file >> kilobytes && kilobytes > 0 ? kilobytes << 10 : std::size_t{32} << 20;
  }();
  return found;
}

std::string how_copied() {
#ifdef __x86_64__
  const std::string past = "; past the cache of " + std::to_string(largest_cache() >> 20) +
                           " MiB where what a call touches does not fit it; where it may, whichever is faster there";
#else
  const std::string past;
#endif
  return (slow_instruction() ? "32 bytes a move, by lines: what memcpy may use for many, rep movsb, is slow on AMD"
                             : "by memcpy") +
         past;
}

}  // namespace tutti::base
