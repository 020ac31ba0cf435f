// SPDX-License-Identifier: BSD-3-Clause
// Layouts behind handles, and types that name two of them.
#pragma once

#include "c/guard.hpp"
#include "tutti/layout.hpp"

/// What a tutti_layout points to.
struct tutti_layout_handle {
  tutti::Layout layout;
  tutti::c::ElementType element;
  std::uint32_t number = 0;  ///< Its place in the table of all layouts, from 1 on.
};

namespace tutti::c {

/// Types made by tutti_laid_out carry this number in their low byte.
inline constexpr tutti_type laid_out_number = 0xff;

/// What such a type names. Throws Error (usage) for one whose layouts are gone.
ElementType laid_out_element(tutti_type type);

/// The handle behind a tutti_layout. Throws Error (usage) for NULL.
inline tutti_layout_handle& layout_of(tutti_layout layout) {
  if (layout == nullptr) refuse("the layout is NULL; pass one from tutti_layout_strided and the like");
  return *layout;
}

}  // namespace tutti::c
