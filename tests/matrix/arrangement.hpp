// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of a test's buffer lie: said twice, as a table of places and as a Layout made by the library.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tutti/layout.hpp"

namespace tutti::matrix {

struct Arrangement {
  std::vector<std::size_t> places;  ///< Of each element, in bytes from the beginning of the buffer.
  std::size_t bytes = 0;            ///< Of the buffer.
  std::optional<Layout> layout;     ///< Nothing: side by side.
};

inline constexpr int arrangements = 7;
inline constexpr std::string_view arrangement_names[arrangements] = {
    "side by side", "every third", "unaligned", "backwards", "indexed", "nested", "transposed"};

/// `count` elements of `element` bytes.
Arrangement arrange(int which, Count count, std::size_t element);

/// Elements [first, first + count) of an arrangement, as a part of the buffer.
Part part_of(const Arrangement& arrangement, Count first, Count count, std::size_t element);

}  // namespace tutti::matrix
