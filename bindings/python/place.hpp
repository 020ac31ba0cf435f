// SPDX-License-Identifier: BSD-3-Clause
// Where in the user's Python program a call stands.
#pragma once

#include <string>

namespace tutti::python {

/// "solver.py:12 in step": the innermost frame of this thread that is not the package's own; empty when there is none.
/// Needs the GIL. Takes microseconds: for waits that have become long.
std::string place();

}  // namespace tutti::python
