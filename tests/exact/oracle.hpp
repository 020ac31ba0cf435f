// SPDX-License-Identifier: BSD-3-Clause
// What a sum must be, by definition: whole numbers as large as it takes, and the nearest of all floating-point numbers.
#pragma once

#include <span>
#include <string>

namespace tutti::testing {

/// "" when `result` is the sum of `numbers` rounded once, ties to even; else what is wrong with it. The sum of nothing
/// is +0; an exact zero is -0 when all numbers were -0; a NaN is the positive quiet one.
template <class T>
std::string judge(std::span<const T> numbers, T result);

}  // namespace tutti::testing
