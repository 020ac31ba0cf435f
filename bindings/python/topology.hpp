// SPDX-License-Identifier: BSD-3-Clause
// Grids, graphs and sparse_exchange for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

void define_topology(nanobind::module_& module);

}  // namespace tutti::python
