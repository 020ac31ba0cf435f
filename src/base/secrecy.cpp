// SPDX-License-Identifier: BSD-3-Clause
#include "base/secrecy.hpp"

#include <sys/random.h>

#include <cerrno>

namespace tutti::base {

bool fill_random(std::span<std::byte> bytes) {
  // Up to 256 bytes come in one piece once the kernel's pool is ready; before that the call waits and may be
  // interrupted.
  while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    if (errno != EINTR) return false;
  return true;
}

bool same(const std::array<std::byte, 16>& a, const std::array<std::byte, 16>& b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

}  // namespace tutti::base
