// SPDX-License-Identifier: BSD-3-Clause
// The C library copies from a few kilobytes on with rep movsb. On AMD's processors (Zen 3 and 4) that is slow where
// target and source do not begin alike in their lines, as a page's start and what malloc gives: of 64 KiB from one
// core to another 12 GB/s, where moves of 16 bytes take 37 (glibc 2.36; later ones avoid it there, too).
#include "base/copy.hpp"

namespace tutti::base {
namespace {

constexpr std::size_t block = 64;

/// Compiled so that it stays a loop, and does not become a call of memcpy again (src/CMakeLists.txt).
void copy_in_blocks(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (; bytes >= block; bytes -= block, to += block, from += block) std::memcpy(to, from, block);
  std::memcpy(to, from, bytes);
}

bool slow_instruction() {
#ifdef __x86_64__
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

}  // namespace

void copy_large(std::byte* to, const std::byte* from, std::size_t bytes) {
  static const bool in_blocks = slow_instruction();
  in_blocks ? copy_in_blocks(to, from, bytes) : void(std::memcpy(to, from, bytes));
}

std::string how_copied() {
  return slow_instruction() ? "in blocks of 64 bytes: what memcpy may use for many, rep movsb, is slow on AMD"
                            : "by memcpy";
}

}  // namespace tutti::base
