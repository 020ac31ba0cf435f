// SPDX-License-Identifier: BSD-3-Clause
// Plans of users in Python's hands.
#pragma once

#include <nanobind/nanobind.h>

#include "tutti/group.hpp"

namespace tutti::python {

/// The classes PlanBuilder and Plan, and what is done with plans of all ranks.
void define_plans(nanobind::module_& module);
/// Group's methods for plans.
void define_plan_calls(nanobind::class_<Group>& group);

}  // namespace tutti::python
