// SPDX-License-Identifier: BSD-3-Clause
// Which sanitizer watches this build: macros for what only it can compile, constants for everything else.
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

#ifdef TUTTI_ADDRESS_SANITIZER
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#ifdef TUTTI_THREAD_SANITIZER
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
/// Everything is several times slower, and a switch of fibers much more.
inline constexpr bool sanitized = address_sanitizer || thread_sanitizer;

}  // namespace tutti::base
