// SPDX-License-Identifier: BSD-3-Clause
// Copies of many bytes, at the speed of the caches.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

namespace tutti::base {

/// From so many bytes on, C libraries may leave a copy to one instruction of the processor (rep movsb).
inline constexpr std::size_t large_copy = 4096;

/// For `large_copy` bytes and more.
void copy_large(std::byte* to, const std::byte* from, std::size_t bytes);

/// memcpy: from and to do not overlap.
inline void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  bytes < large_copy ? void(std::memcpy(to, from, bytes)) : copy_large(to, from, bytes);
}

/// The same past the caches. What is too much for them would only drive other data out, and each line be fetched before
/// it is written over.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes);

/// Bytes of the largest cache, as the cores that share it see it; 32 MiB where the system does not say.
std::size_t largest_cache();

/// How large copies are made on this processor, and why: for `tutti info`.
std::string how_copied();

}  // namespace tutti::base
