// SPDX-License-Identifier: BSD-3-Clause
#include "place.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string_view>
#include <utility>

#include "tutti/trace.hpp"

namespace tutti::python {

namespace nb = nanobind;

namespace {

std::exception_ptr raised_by_signal;  // guarded by the GIL

bool in_package(std::string_view module) { return module == "tutti" || module.starts_with("tutti."); }

}  // namespace

std::string place() {
  try {
    auto frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    for (; frame.is_valid() && !frame.is_none(); frame = frame.attr("f_back")) {
      const nb::object module = frame.attr("f_globals").attr("get")("__name__", "");
      if (nb::isinstance<nb::str>(module) && in_package(nb::cast<std::string>(module))) continue;
      const nb::object code = frame.attr("f_code");
      return nb::cast<std::string>(code.attr("co_filename")) + ":" +
             std::to_string(nb::cast<int>(frame.attr("f_lineno"))) + " in " +
             nb::cast<std::string>(code.attr("co_name"));
    }
  } catch (const std::exception&) {
    // A name that cannot be told is no reason to end a wait.
  }
  return {};
}

bool interrupted() {
  const WithGil gil;
  if (!gil || PyErr_CheckSignals() == 0) return false;
  raised_by_signal = std::make_exception_ptr(nb::python_error());
  return true;
}

void throw_interruption() {
  if (raised_by_signal) std::rethrow_exception(std::exchange(raised_by_signal, nullptr));
}

void say_call(bool blocks) {
  if (is_recorded()) say_next_call(place(), blocks);
}

}  // namespace tutti::python
