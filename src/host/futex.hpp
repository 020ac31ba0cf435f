// SPDX-License-Identifier: BSD-3-Clause
// Futexes on words that processes share, and cache lines asked for early.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace tutti::host {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Sleeps while the word is `expected`, for at most `nanoseconds`. Returns 0, EAGAIN, EINTR or ETIMEDOUT.
inline int futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t nanoseconds) {
  const timespec time{static_cast<time_t>(nanoseconds / 1'000'000'000u),
                      static_cast<long>(nanoseconds % 1'000'000'000u)};
  return syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0) == 0 ? 0 : errno;
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Asks for a cache line in order to write it soon.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  // The builtin gives this instruction only where the compiler may assume it; processors without it ignore it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// The same for all lines of so many bytes.
inline void prefetch_to_write(const std::byte* begin, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) prefetch_to_write(begin + at);
}

/// Tells the core that this is a polling loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace tutti::host
