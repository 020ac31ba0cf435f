// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library's own inside somebody else's program.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace tutti::base {

/// A thread that no signal is handled in: these are for the program's own, which may have blocked them. But for those
/// that a thread brings about itself, as SIGSEGV: functions of the program may run in it. Throws Error (system): no
/// thread for `what`.
std::thread quiet_thread(std::function<void()> body, const std::string& what);

}  // namespace tutti::base
