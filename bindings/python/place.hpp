// SPDX-License-Identifier: BSD-3-Clause
// Where in the user's Python program a call stands, how it waits without the GIL, and the groups that calls make.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "interpreter.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"
#include "tutti/trace.hpp"

namespace tutti::python {

/// "solver.py:12 in step": the innermost frame of this thread that is not the package's own; empty when there is none.
/// Needs the GIL. Takes microseconds: for waits that have become long.
std::string place();

/// Before a call of the program's is started, with the GIL: says where it stands if the process is recorded. `blocks`:
/// it is waited for at once.
void say_call(bool blocks);

/// Whether a signal handler has raised; it is kept. For the main thread: others get no signals.
bool interrupted();
/// Throws what a signal handler has raised.
void throw_interruption();

/// Runs a call that waits inside for other ranks, without the GIL: `tutti why` shows where it stands, and Ctrl-C works.
template <class Work>
auto wait_inside(Work work) {
  const CalledAt place(python::place(), interrupted);
  try {
    return without_gil(std::move(work));
  } catch (const Error& error) {
    if (error.cause() == Cause::interrupted) throw_interruption();
    throw;
  }
}

/// A group in Python's hands. The end of its last handle takes locks of the engine, whose holder may want the GIL to
/// run a reduction: it comes without the GIL.
struct Handle : Group {
  explicit Handle(Group made) : Group(std::move(made)) {}
  Handle(Handle&&) = default;
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (!*this) return;
    const WithoutGil released;
    Group::operator=(Group());
  }
};

/// wait_inside for a call that makes a group; None for ranks that are not in it.
template <class Make>
nanobind::object make_group(Make make) {
  Handle made(wait_inside(std::move(make)));
  return made ? nanobind::cast(std::move(made)) : nanobind::none();
}

}  // namespace tutti::python
