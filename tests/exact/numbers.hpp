// SPDX-License-Identifier: BSD-3-Clause
// Numbers that are hard to add.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace tutti::testing {

/// What an array of numbers is made of.
enum class Sort { uniform, full_range, cancelling, ties, near_ties, large, subnormal, special, zeros };
inline constexpr std::array all_sorts = {Sort::uniform, Sort::full_range, Sort::cancelling, Sort::ties, Sort::near_ties,
                                         Sort::large,   Sort::subnormal,  Sort::special,    Sort::zeros};
const char* name(Sort sort);

/// `columns` arrays whose i-th numbers are one sum; the same for the same seed.
template <class T>
std::vector<std::vector<T>> numbers(Sort sort, std::size_t columns, std::size_t rows, std::uint64_t seed);

}  // namespace tutti::testing
