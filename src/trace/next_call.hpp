// SPDX-License-Identifier: BSD-3-Clause
// What a language knows of a call before it starts it, where the call itself cannot say it.
#pragma once

#include <cstdint>
#include <utility>

namespace tutti::trace {

struct NextCall {
  std::uint64_t site = 0;  ///< As Event has it.
  bool blocks = false;     ///< It is started and waited for at once.
};

/// Of this thread. Every recorded call looks here: its place is known when the program starts, and not asked for.
inline NextCall& next_call() {
  [[gnu::tls_model("initial-exec")]] static thread_local NextCall next;
  return next;
}
inline NextCall take_next_call() { return std::exchange(next_call(), {}); }

}  // namespace tutti::trace
