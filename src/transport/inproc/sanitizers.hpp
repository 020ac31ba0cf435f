// SPDX-License-Identifier: BSD-3-Clause
// What the sanitizers want to know about a switch of stacks; nothing in ordinary builds.
#pragma once

#include <cstddef>

#include "base/sanitizers.hpp"

#ifdef TUTTI_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TUTTI_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace tutti::transport::inproc {

/// One stack as the sanitizers see it. The functions around a switch are inlined always: they are entered on one stack
/// and would be left on another.
struct SanitizedStack {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
  void* thread = nullptr;

  /// Before the first switch to it. `is_thread`: the stack of the thread itself.
  void create([[maybe_unused]] bool is_thread) {
#ifdef TUTTI_THREAD_SANITIZER
    thread = is_thread ? __tsan_get_current_fiber() : __tsan_create_fiber(0);
#endif
  }
  void destroy() {
#ifdef TUTTI_THREAD_SANITIZER
    __tsan_destroy_fiber(thread);
#endif
    thread = nullptr;
  }
  /// On this stack, right before the switch to `to`; `for_good`: nobody will come back.
  [[gnu::always_inline]] void leave([[maybe_unused]] const SanitizedStack& to, [[maybe_unused]] bool for_good) {
#ifdef TUTTI_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack, to.bottom, to.bytes);
#endif
#ifdef TUTTI_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.thread, 0);
#endif
  }
  /// On this stack, right after a switch to it from `from`.
  [[gnu::always_inline]] void arrived([[maybe_unused]] SanitizedStack& from) {
#ifdef TUTTI_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, &from.bottom, &from.bytes);
#endif
  }
};

}  // namespace tutti::transport::inproc
