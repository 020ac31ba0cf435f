// SPDX-License-Identifier: BSD-3-Clause
// For bindings of languages whose calls have no return addresses: where a program's calls stand.
#pragma once

#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// This process records what it does (TUTTI_TRACE): only then is it worth finding out a place.
TUTTI_API bool is_recorded();

/// The next call that this thread starts stands at `place` ("solver.py:12 in step"). `blocks`: it is waited for at
/// once, and is a blocking call of the program's. Does nothing in a process that is not recorded.
TUTTI_API void say_next_call(std::string_view place, bool blocks);

/// While it lives, all that this thread waits for stands at one place, for `tutti why`: for calls that wait inside,
/// such as split. `interrupted`, if any, is asked now and then meanwhile: true ends the wait with Error (interrupted).
/// One at a time in a thread.
class TUTTI_API CalledAt {
 public:
  explicit CalledAt(std::string place, bool (*interrupted)() = nullptr);
  ~CalledAt();
  CalledAt(const CalledAt&) = delete;
  CalledAt& operator=(const CalledAt&) = delete;

 private:
  std::string place_;
};

}  // namespace tutti
