// SPDX-License-Identifier: BSD-3-Clause
// The cells of a group's board as plans know them: of elements.
#pragma once

#include <cstddef>

#include "host/board.hpp"
#include "plan/plan.hpp"

namespace tutti::engine {

static_assert(plan::ring_length == plan::OfRings<std::int32_t>{host::cells, host::medium_areas, host::areas});

/// How many elements of `element` bytes fit a cell of each ring.
constexpr plan::Cells cells_of(std::size_t element) {
  return {static_cast<Count>(host::small_payload / element), static_cast<Count>(host::medium_payload / element),
          static_cast<Count>(host::large_payload / element)};
}

}  // namespace tutti::engine
