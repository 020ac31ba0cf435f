// SPDX-License-Identifier: BSD-3-Clause
// Which sanitizer watches this build: macros for what only it can compile, a constant for everything else.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TUTTI_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define TUTTI_THREAD_SANITIZER
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TUTTI_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define TUTTI_THREAD_SANITIZER
#endif
#endif

namespace tutti::base {

/// Everything is several times slower, and a switch of fibers much more.
#if defined(TUTTI_ADDRESS_SANITIZER) || defined(TUTTI_THREAD_SANITIZER)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace tutti::base
