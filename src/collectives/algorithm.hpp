// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm's file includes: the writer of plans, where blocks lie, trees and rings, and all algorithms' names.
#pragma once

#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"
#include "collectives/ring.hpp"
#include "collectives/tree.hpp"
#include "collectives/writer.hpp"

namespace tutti::collectives {

// clang-format off
#define ALGORITHM(kind, name, ...) namespace kind { plan::Plan name(const Shape& shape); }
#include "collectives/registry.def"
#undef ALGORITHM
// clang-format on

}  // namespace tutti::collectives
