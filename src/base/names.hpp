// SPDX-License-Identifier: BSD-3-Clause
// How types, operations and collectives are called in messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tutti/call.hpp"
#include "tutti/types.hpp"

namespace tutti::base {

std::string_view name(Type type);
std::string_view name(Op op);
std::string_view name(Kind kind);

/// "allreduce(4 x float64, sum, root 0, by ring)": what a rank called, as its records have it (host::Record). Any words
/// may stand there.
std::string call_text(std::uint64_t call, Count count, std::string_view algorithm);

/// "rank 3", "ranks 0-2, 5".
std::string list_ranks(std::span<const Rank> ascending);

}  // namespace tutti::base
