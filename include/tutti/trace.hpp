// SPDX-License-Identifier: BSD-3-Clause
// For bindings of languages whose calls have no return addresses: where the calls of a recorded program stand.
#pragma once

#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// This process records what it does (TUTTI_TRACE): only then is it worth finding out a place.
TUTTI_API bool is_recorded();

/// The next call that this thread starts stands at `place` ("solver.py:12 in step"). `blocks`: it is waited for at
/// once, and is a blocking call of the program's. Does nothing in a process that is not recorded.
TUTTI_API void say_next_call(std::string_view place, bool blocks);

}  // namespace tutti
