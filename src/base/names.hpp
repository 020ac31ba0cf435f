// SPDX-License-Identifier: BSD-3-Clause
// How types, operations and collectives are called in messages.
#pragma once

#include <string_view>

#include "tutti/call.hpp"
#include "tutti/types.hpp"

namespace tutti::base {

std::string_view name(Type type);
std::string_view name(Op op);
std::string_view name(Kind kind);

}  // namespace tutti::base
