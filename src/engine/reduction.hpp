// SPDX-License-Identifier: BSD-3-Clause
// Combines two runs of elements: the arithmetic under every reduction.
#pragma once

#include <array>
#include <cstddef>

#include "plan/plan.hpp"
#include "tutti/types.hpp"

namespace tutti::engine {

inline constexpr std::size_t type_count = static_cast<std::size_t>(Type::located_float64) + 1;
/// By Type.
inline constexpr std::array<std::uint8_t, type_count> type_sizes = {0, 1,  2,  4,  8,  1,  2,  4,  8,  4,  8,  1,
                                                                    8, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16};
/// Bytes of one element; 0 for `opaque`, whose size each call states.
constexpr std::size_t size_of(Type type) { return type_sizes[static_cast<std::size_t>(type)]; }

/// Whether `op` is defined on `type`. Op::user is, on every type; Op::none on none.
///   sum, prod              integers, float, double, complex
///   min, max               integers, float, double
///   land, lor, lxor        integers, bool          (the result is 0 or 1)
///   band, bor, bxor        integers, bool
///   minloc, maxloc         located types
bool supports(Type type, Op op);
/// target[i] = source[i] op other[i], for a built-in operation; null when the type has none. `other` is the target, or
/// overlaps it nowhere.
using Kernel = void (*)(const std::byte* source, const std::byte* other, std::byte* target, Count n);
Kernel kernel_of(Type type, Op op);

/// Combines n elements of source into target. The two must not overlap and need no alignment.
/// left: target = source op target; right: target = target op source. The built-in operations give the same bits
/// either way: integers wrap around on overflow; in min, max, minloc and maxloc a NaN wins over every number, and min
/// and max order -0 before +0; equal values of minloc and maxloc (two NaNs are equal) keep the lowest index.
/// (Only which of two NaNs' payloads a sum or product keeps is the processor's choice.)
/// Throws Error (usage) where supports() is false, and what a user's function throws.
void reduce(const Reduction& reduction, Type type, std::size_t element, const std::byte* source, std::byte* target,
            Count n, plan::Side side);

/// This thread runs a user's reduction, which holds its group's lock: it must neither start nor wait.
bool inside_reduction();
/// Throws Error (usage) inside one.
void refuse_inside_reduction();

}  // namespace tutti::engine
