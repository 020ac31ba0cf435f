// SPDX-License-Identifier: BSD-3-Clause
// Where in the user's Python program a call stands.
#pragma once

#include <string>

namespace tutti::python {

/// "solver.py:12 in step": the innermost frame of this thread that is not the package's own; empty when there is none.
/// Needs the GIL. Takes microseconds: for waits that have become long.
std::string place();

/// Before a call of the program's is started, with the GIL: says where it stands if the process is recorded. `blocks`:
/// it is waited for at once.
void say_call(bool blocks);

}  // namespace tutti::python
